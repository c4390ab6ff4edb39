"""`nfvbed doctor --prepare`: a host kept prepared while a command runs, or until Ctrl-C."""

import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

import click

from nfvbed.cli.listing import Output, Row
from nfvbed.compare.samples.ranks import signed_rank
from nfvbed.errors import UsageError
from nfvbed.host.preparation.gain import GainRound, measure_gain
from nfvbed.host.preparation.preparing import PreparedTopic, prepared
from nfvbed.host.probes.host import Host
from nfvbed.records.preparation import Plan, TopicPlan
from nfvbed.signals import end_like_interrupt
from nfvbed.sites.site import Site

_ALPHA = 0.05


@dataclass(frozen=True)
class Preparation:
    """What is asked for."""

    argv: tuple[str, ...]
    """Command to run meanwhile; empty: until Ctrl-C."""
    gain: int | None
    """Pairs of rounds to measure in place of a command."""
    read_only: bool
    """Whether only the plan is shown."""


def prepare_host(site: Site, output: Output, asked: Preparation) -> None:
    """Prepare the site's host, wait, and undo it.

    Raises:
        UnsupportedError: the site is no host, or has nothing to set of which a gain could be measured.
        UsageError: a command, a gain and a mere look exclude each other.
    """
    if (bool(asked.argv), asked.gain is not None, asked.read_only).count(True) > 1:
        raise UsageError("COMMAND, --gain and --read-only exclude each other", fix="leave out all but one")
    plans = site.plan_preparation()
    if asked.read_only:
        _show(output, [_planned(plan) for plan in plans])
        return
    site.begin()
    try:
        if asked.gain is not None:
            _show_gain(output, measure_gain(lambda: prepared(plans, Host()), asked.gain), plans)
            return
        site.close()  # The command takes the host for itself.
        with prepared(plans, Host()) as topics:
            _show(output, topics)
            status = _wait(asked.argv)
    finally:
        site.close()
    click.get_current_context().exit(status)


def _wait(argv: tuple[str, ...]) -> int:
    """Run a command, or wait for Ctrl-C; return the exit status. A signal that ends this ends the command first."""
    end_like_interrupt()
    if not argv:
        click.echo("prepared; Ctrl-C undoes it", err=True)
        try:
            while True:
                signal.pause()
        except KeyboardInterrupt:
            return 0
    child = subprocess.Popen(argv)
    try:
        return child.wait()
    except KeyboardInterrupt:
        child.terminate()
        return child.wait()


def _planned(plan: TopicPlan) -> PreparedTopic:
    return PreparedTopic(topic=plan.topic, plan=plan.plan, summary=plan.summary)


def _show(output: Output, topics: Iterable[PreparedTopic]) -> None:
    found = list(topics)

    def rows() -> Iterable[Row]:
        for one in found:
            yield {"kind": "preparation", "name": one.topic, "state": one.plan.value, "observed": one.summary}

    def lines() -> None:
        for one in found:
            click.echo(f"{one.topic}: {one.plan.value}: {one.summary}")

    output.show(rows, lambda: [one.model_dump(mode="json") for one in found], lines)


def _show_gain(output: Output, rounds: tuple[GainRound, ...], plans: tuple[TopicPlan, ...]) -> None:
    found = signed_rank([100 * (one.prepared - one.as_found) for one in rounds], _ALPHA)
    interval = found.interval
    span = "no interval of so few" if interval is None else f"{interval.low:+.3g} to {interval.high:+.3g}"

    def lines() -> None:
        changed = ", ".join(plan.topic for plan in plans if plan.plan is Plan.SET) or "nothing"
        click.echo(f"set in every other round: {changed}")
        click.echo(
            "time that the worst core is away, prepared less as found:"
            f" {found.estimate:+.3g} percentage points ({span}; {len(rounds)} pairs, p {found.p_value:.2g}):"
            f" {'decided' if found.decided else 'undecided'}"
        )

    def rows() -> Iterable[Row]:
        for number, one in enumerate(rounds, 1):
            observed = f"{one.prepared:.3%} prepared, {one.as_found:.3%} as found"
            yield {"kind": "gain", "name": f"round {number}", "observed": observed}

    output.show(rows, lambda: [one.model_dump() for one in rounds], lines)
