"""The emulated eNB: it presents itself to the MME, and its UEs attach and detach."""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Protocol

from nfvbed.errors import VnfDiedError
from nfvbed.spec.bearers import Bearer
from nfvbed.spec.corenetwork import DEFAULT_NETWORK, CoreNetwork
from nfvbed.units import NS_PER_S
from nfvbed.vnfs.epc import s1ap
from nfvbed.vnfs.epc.nas import MalformedMessage
from nfvbed.vnfs.epc.reports import ANSWER_S, BURST, BURST_NS, NO_ANSWER, AttachReport, Outcome
from nfvbed.vnfs.epc.s1ap import MmeMessage, Tunnel
from nfvbed.vnfs.epc.subscribers import Subscriber
from nfvbed.vnfs.epc.ue import Ue, UeState

FIRST_TEID = 0x1000
_TAKEN_IN = "S1SetupResponse"


class Link(Protocol):
    """The connection for messages to the MME."""

    def send(self, message: bytes, of_ue: bool) -> None:
        """Send one message."""

    def receive(self, timeout_s: float) -> bytes | None:
        """Wait for one message."""


@dataclass
class _Context:
    """A UE's connection through the eNB."""

    ue: Ue
    number: int
    began_ns: int = 0
    mme_ue: int | None = None
    far: Tunnel | None = None
    near: Tunnel | None = None
    connected: bool = field(default=False)


class Enb:
    """One eNB with one association, which does one thing at a time.

    Args:
        link: association with the MME.
        address: address of its end of S1-U, which the serving gateway is told.
    """

    def __init__(self, link: Link, address: IPv4Address, network: CoreNetwork = DEFAULT_NETWORK) -> None:
        self._link = link
        self._network = network
        self._address = address
        self._contexts: dict[int, _Context] = {}
        self._next = 1
        self._recent: deque[int] = deque(maxlen=BURST)
        """When the last ones began, ns."""
        self._malformed = 0

    def set_up(self) -> None:
        """Introduce the eNB to the MME.

        Raises:
            VnfDiedError: the MME refuses it, or does not answer.
        """
        self._link.send(s1ap.setup_request(self._network), of_ue=False)
        data = self._link.receive(ANSWER_S)
        answer = s1ap.decoded(data) if data is not None else None
        if answer is None or answer.name != _TAKEN_IN:
            raise VnfDiedError(
                "the MME does not take the eNB in",
                observed=f"{answer.name} {answer.cause}" if answer else f"{NO_ANSWER} within {ANSWER_S:g} s",
                fix="see mme.log in the run directory",
            )

    def serve_at(self, address: IPv4Address) -> None:
        """Give the serving gateway another end of S1-U, a generator's, for UEs that attach from now on."""
        self._address = address

    def attach(self, subscribers: Iterable[Subscriber], in_flight: int = 1) -> AttachReport:
        """Attach UEs, so many at a time.

        One that is not answered within `ANSWER_S` has failed; the others go on. Then the MME is asked whether it
        answers anything at all.

        Raises:
            VnfDiedError: the association is gone.
        """
        waiting, busy_ns, done = list(subscribers), 0, list[Outcome]()
        running: list[_Context] = []
        malformed = self._malformed
        while waiting or running:
            if not running:
                self._pause()
            began = time.monotonic_ns()
            while waiting and len(running) < in_flight and self._may_begin():
                running.append(self._begin(Ue(waiting.pop(0), self._network)))
            self._serve(running)
            now = time.monotonic_ns()
            ended = [context for context in running if _has_ended(context, now)]
            done += [_outcome(context, now) for context in ended]
            running = [context for context in running if context not in ended]
            busy_ns += now - began
        answers = all(outcome.failure != NO_ANSWER for outcome in done) or self._mme_answers()
        return AttachReport(
            outcomes=tuple(done), busy_ns=busy_ns, mme_answers=answers, malformed=self._malformed - malformed
        )

    def _mme_answers(self) -> bool:
        """Introduce the eNB again: a working MME answers, whatever became of its UEs."""
        self._link.send(s1ap.setup_request(self._network), of_ue=False)
        deadline = time.monotonic() + ANSWER_S
        while (data := self._link.receive(max(0.0, deadline - time.monotonic()))) is not None:
            if self._take(data) == _TAKEN_IN:
                return True
        return False

    def _may_begin(self) -> bool:
        return len(self._recent) < BURST or time.monotonic_ns() - self._recent[0] > BURST_NS

    def _pause(self) -> None:
        """Wait until the functions can take another UE."""
        if not self._may_begin():
            time.sleep(max(0, self._recent[0] + BURST_NS - time.monotonic_ns()) / NS_PER_S)

    def detach(self, imsis: Iterable[str]) -> AttachReport:
        """Detach UEs, one after the other.

        Raises:
            VnfDiedError: the association is gone.
        """
        wanted, done = set(imsis), list[Outcome]()
        for context in [one for one in self._contexts.values() if one.ue.subscriber.imsi in wanted]:
            if context.mme_ue is None or context.ue.state is not UeState.ATTACHED:
                continue
            self._pause()
            context.began_ns = time.monotonic_ns()
            self._recent.append(context.began_ns)
            self._uplink(context, context.ue.detach())
            while context.connected and not _timed_out(context, time.monotonic_ns()):
                self._serve([context])
            done.append(_outcome(context, time.monotonic_ns(), UeState.DETACHED))
            self._contexts.pop(context.number, None)
        return AttachReport(outcomes=tuple(done), busy_ns=sum(outcome.duration_ns for outcome in done))

    def bearers(self) -> tuple[tuple[Bearer, IPv4Address], ...]:
        """Return the default bearers of the attached UEs, each with the serving gateway's address on S1-U."""
        return tuple(
            (
                Bearer(
                    imsi=context.ue.subscriber.imsi,
                    ue=context.ue.address,
                    uplink_teid=context.far.teid,
                    downlink_teid=context.near.teid,
                ),
                context.far.address,
            )
            for context in self._contexts.values()
            if context.ue.state is UeState.ATTACHED and context.ue.address and context.far and context.near
        )

    def _begin(self, ue: Ue) -> _Context:
        context = _Context(ue, self._next, time.monotonic_ns(), connected=True)
        self._next += 1
        self._recent.append(context.began_ns)
        self._contexts[context.number] = context
        self._link.send(s1ap.initial_message(context.number, ue.attach(), self._network), of_ue=True)
        return context

    def _serve(self, running: list[_Context]) -> None:
        """Handle the next message, or wait until the first of these UEs has waited too long."""
        first = min(context.began_ns for context in running)
        left_s = ANSWER_S - (time.monotonic_ns() - first) / NS_PER_S
        data = self._link.receive(max(left_s, 0.0))
        if data is not None:
            self._take(data)

    def _take(self, data: bytes) -> str:
        """Handle a message, and return its name; an unreadable one is logged and skipped (empty)."""
        try:
            message = s1ap.decoded(data)
            self._act(message)
        except MalformedMessage as failure:
            self._leave_out(failure)
            return ""
        return message.name

    def _leave_out(self, failure: MalformedMessage) -> None:
        self._malformed += 1
        print(f"nfvbed-enb: {failure.what}, it is left out: {failure.observed}", flush=True)

    def _act(self, message: MmeMessage) -> None:
        context = self._context_of(message)
        if context is None:
            return  # of the eNB as a whole, or of a UE that has gone
        context.mme_ue = message.mme_ue if message.mme_ue is not None else context.mme_ue
        if message.tunnel is not None:
            self._connect(context, message.tunnel)
        for data in message.nas:
            self._pass_on(context, data)
        if message.name == "UEContextReleaseCommand":
            self._release(context, message)
        elif message.name == "ErrorIndication" and context.ue.state is UeState.ATTACHING:
            _reject(context, message.cause)

    def _pass_on(self, context: _Context, data: bytes) -> None:
        """Pass a message to its UE; one that the UE cannot read is skipped, and is the reason if the UE fails."""
        try:
            for answer in context.ue.receive(data):
                self._uplink(context, answer)
        except MalformedMessage as failure:
            self._leave_out(failure)
            context.ue.failure = context.ue.failure or f"a message of the MME's cannot be read: {failure.observed}"

    def _context_of(self, message: MmeMessage) -> _Context | None:
        if message.enb_ue is not None:
            return self._contexts.get(message.enb_ue)
        known = (context for context in self._contexts.values() if context.mme_ue == message.mme_ue)
        return next(known, None) if message.mme_ue is not None else None

    def _connect(self, context: _Context, far: Tunnel) -> None:
        if context.mme_ue is None:
            raise MalformedMessage("S1AP", "a bearer for a UE without a number of the MME's")
        context.far, context.near = far, Tunnel(far.bearer, self._address, FIRST_TEID + context.number)
        self._link.send(s1ap.context_response(context.mme_ue, context.number, context.near), of_ue=True)

    def _release(self, context: _Context, message: MmeMessage) -> None:
        if context.mme_ue is not None:
            self._link.send(s1ap.release_complete(context.mme_ue, context.number), of_ue=True)
        context.connected = False
        if context.ue.state is UeState.ATTACHING:
            _reject(context, message.cause)

    def _uplink(self, context: _Context, message: bytes) -> None:
        if context.mme_ue is None:
            raise MalformedMessage("S1AP", "a message for a UE without a number of the MME's")
        self._link.send(s1ap.uplink_message(context.mme_ue, context.number, message, self._network), of_ue=True)


def _reject(context: _Context, cause: str) -> None:
    context.ue.state, context.ue.failure = UeState.REJECTED, context.ue.failure or cause


def _timed_out(context: _Context, now_ns: int) -> bool:
    return now_ns - context.began_ns > ANSWER_S * NS_PER_S


def _has_ended(context: _Context, now_ns: int) -> bool:
    return context.ue.state is not UeState.ATTACHING or _timed_out(context, now_ns)


def _outcome(context: _Context, now_ns: int, wanted: UeState = UeState.ATTACHED) -> Outcome:
    reached = context.ue.state is wanted
    return Outcome(
        imsi=context.ue.subscriber.imsi,
        duration_ns=now_ns - context.began_ns,
        failure="" if reached else context.ue.failure or NO_ANSWER,
    )
