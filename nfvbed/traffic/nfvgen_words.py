"""Translates requests and results of trials into the words of `nfvgen/1`, and back."""

from nfvbed.errors import ConfigurationError, GeneratorError
from nfvbed.records import DirectionCounts, LoopGaps, QueueCounts
from nfvbed.spec.bearers import BearerTable
from nfvbed.traffic.generator import TrafficRequest, TrafficResult
from nfvbed.traffic.latency import encode_latency
from nfvbed.traffic.nfvgen_protocol import (
    DirectionMessage,
    ErrorBody,
    GtpuMessage,
    LoadPhaseMessage,
    StackMessage,
    StartMessage,
    TimelineMessage,
    TrialMessage,
)
from nfvbed.traffic.timeline import Bin, Gap, Timeline
from nfvbed.units import frame_mix


def start_message(request: TrafficRequest, drain_ns: int) -> StartMessage:
    """Return a request in the words of the protocol."""
    then, bearers = request.then, request.bearers
    return StartMessage(
        duration_ns=request.duration_ns,
        frames=request.frames,
        rate_pps=request.rate_pps,
        directions=[[0, 1], [1, 0]] if request.bidirectional else [[1, 0] if request.backward else [0, 1]],
        frame_sizes=[list(pair) for pair in frame_mix(request.frame_size)],
        flows=len(bearers.table.bearers) if bearers else request.flows,
        stack=StackMessage(
            vlan=request.vlan, ip=4 if request.ip == 4 else 6, gtpu=_gtpu(bearers.table) if bearers else None
        ),
        learning_frames=request.learning_frames,
        drain_ns=drain_ns,
        check=request.check,
        stamp=request.stamp,
        then=LoadPhaseMessage(rate_pps=then.rate_pps, duration_ns=then.duration_ns) if then else None,
        timeline_ns=request.timeline_ns,
    )


def result_of(trial: TrialMessage) -> TrafficResult:
    """Return the result that the generator's counts mean.

    Raises:
        GeneratorError: counts that cannot be.
    """
    directions = []
    latency = []
    for direction in trial.directions:
        directions.append(_counts(direction))
        try:
            latency.append(encode_latency(direction.latency.counts) if direction.latency else None)
        except ValueError as error:
            raise GeneratorError("nfvgen reported an impossible latency", observed=str(error)) from error
    return TrafficResult(
        duration_ns=trial.duration_ns,
        busy_ns=trial.busy_ns,
        directions=tuple(directions),
        foreign=(trial.foreign[0], trial.foreign[1]),
        latency_hdr=tuple(latency),
        gaps=LoopGaps(**trial.gaps.model_dump()) if trial.gaps else None,
        missed=sum(trial.missed or ()),
        timelines=tuple(_timeline(way.timeline) for way in trial.directions if way.timeline),
    )


def refusal(error: ErrorBody, command: str, request: TrafficRequest | None) -> ConfigurationError | GeneratorError:
    """Return the error for a refused request: the user's value is out of range, or the generator failed."""
    observed = error.message
    if error.limit is not None and str(error.limit) not in error.message:
        observed += f" (limit: {error.limit})"
    if error.code == "out-of-range":
        what = error.field or command
        size = f" for frames of {request.frame_size} bytes" if request is not None else ""
        fix = "" if error.limit is None else f"use {error.limit}"
        return ConfigurationError(f"the generator refuses {what}{size}", where="nfvgen", observed=observed, fix=fix)
    if error.code == "port":
        return GeneratorError(f"a port of the generator failed ({command})", where="nfvgen", observed=observed)
    return GeneratorError(f"nfvgen refused {command} ({error.code})", where=error.field or "nfvgen", observed=observed)


def _gtpu(table: BearerTable) -> GtpuMessage:
    return GtpuMessage(
        enb=str(table.enb),
        sgw=str(table.sgw),
        server=str(table.server),
        bearers=[(str(one.ue), one.uplink_teid, one.downlink_teid) for one in table.bearers],
    )


def _counts(direction: DirectionMessage) -> DirectionCounts:
    """Return the counts of one direction.

    Raises:
        GeneratorError: they contradict each other.
    """
    others = direction.model_dump(
        include={"late", "refused", "reordered", "duplicated", "surplus", "corrupted", "sent_bytes", "received_bytes"}
    )
    try:
        found = DirectionCounts.counted(
            direction.sent,
            direction.received,
            unsent=direction.unsent,
            in_time=direction.received_in_time,
            queues=tuple(QueueCounts(**queue.model_dump()) for queue in direction.queues),
            **others,
        )
    except ValueError as error:
        raise _contradiction(direction) from error
    if (direction.intended, direction.lost) != (found.intended, found.lost):
        raise _contradiction(direction)
    return found


def _contradiction(direction: DirectionMessage) -> GeneratorError:
    names = ("intended", "sent", "unsent", "late", "received", "lost", "duplicated", "surplus")
    return GeneratorError(
        "the generator's counts contradict each other",
        where=f"direction {direction.tx} to {direction.rx}",
        observed=", ".join(f"{name} {getattr(direction, name)}" for name in names),
        fix="use the generator of this version of nfvbed",
    )


def _timeline(message: TimelineMessage) -> Timeline:
    return Timeline(
        bin_ns=message.bin_ns,
        bins=tuple(Bin(*seen) for seen in message.bins),
        gap=Gap(message.gap.from_ns, message.gap.to_ns) if message.gap else None,
    )
