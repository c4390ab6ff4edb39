"""From the answers of nfvbed's dashboard to the rows of the panel; knows neither Django nor the network."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from nfvbed_horizon.trouble import Trouble

_ID = re.compile(r"[0-9a-fA-F-]{32,36}")
"""Of what Nova, Heat and Tacker have."""
_NONE_DECIDED = "no difference was decided"
_OLDER = "the comparison shows them"
_DAY_S = 86_400
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class VnfRow:
    """A VNF that was onboarded."""

    name: str
    what: str
    """Kind and forwarding."""
    host: str
    """Compute that its instance is on; empty: not known."""
    instance: str
    """Nova's id of its instance; empty: it is none of this cloud's."""
    stack: str
    """Heat's id of its stack; empty: it has none, or is not of this cloud."""
    tacker: str
    """Which of Tacker's APIs has it, and its id there; empty: none."""


@dataclass(frozen=True)
class DeploymentRow:
    """What is deployed on a site of nfvbed's."""

    site: str
    is_here: bool
    """Whether the site is the cloud that this Horizon belongs to."""
    variant: str
    topology: str
    computes: str
    vnfs: tuple[VnfRow, ...]
    since: str


@dataclass(frozen=True)
class Problem:
    """What was not read or not compared, and why."""

    what: str
    observed: str
    fix: str


@dataclass(frozen=True)
class Deployments:
    """All that is deployed, this cloud's first."""

    rows: tuple[DeploymentRow, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class VerdictRow:
    """A difference that was decided."""

    text: str
    link: str


@dataclass(frozen=True)
class RunRow:
    """A run of the store."""

    name: str
    began: str
    age: str
    state: str
    link: str
    compare: str
    """Link to the comparison."""
    verdicts: tuple[VerdictRow, ...]
    note: str
    """What there is beside the verdicts shown, or why there are none; empty: nothing to add."""


@dataclass(frozen=True)
class Runs:
    """The newest runs."""

    rows: tuple[RunRow, ...]
    total: int
    """In the store."""


def deployments_of(answer: Mapping[str, Any], sites: Collection[str]) -> Deployments:
    """Return the rows of `/api/deployments`.

    Args:
        answer: as it was read.
        sites: nfvbed's names of this cloud.

    Raises:
        Trouble: it is not what this panel reads.
    """

    def read() -> Deployments:
        rows = [_deployment(one, sites) for one in answer["deployments"]]
        rows.sort(key=lambda row: (not row.is_here, row.site))
        problems = (
            Problem(f"Site {one['site']}: {one['what']}", one["observed"], one["fix"]) for one in answer["not_readable"]
        )
        return Deployments(tuple(rows), tuple(problems))

    return _reading("/api/deployments", read)


def runs_of(answer: Mapping[str, Any], url: str) -> Runs:
    """Return the rows of `/api/overview`.

    Args:
        answer: as it was read.
        url: of the dashboard, without a slash at its end.

    Raises:
        Trouble: it is not what this panel reads.
    """

    def read() -> Runs:
        return Runs(tuple(_run(state, answer, url) for state in answer["newest"]), int(answer["runs"]))

    return _reading("/api/overview", read)


def _reading(path: str, read: Callable[[], _Result]) -> _Result:
    try:
        return read()
    except (KeyError, TypeError, ValueError, AttributeError) as failure:
        raise Trouble(
            "What nfvbed's dashboard answers is not what this panel reads",
            f"{path}: {type(failure).__name__} {failure}",
            "Install the panel and the dashboard of one version of nfvbed.",
        ) from failure


def _deployment(one: Mapping[str, Any], sites: Collection[str]) -> DeploymentRow:
    is_here = one["site"] in sites
    return DeploymentRow(
        site=one["site"],
        is_here=is_here,
        variant=one["variant"],
        topology=one["topology"],
        computes=", ".join(one["computes"]),
        vnfs=tuple(_vnf(vnf, is_here=is_here) for vnf in one["vnfs"]),
        since=_minute(one["since"]),
    )


def _vnf(one: Mapping[str, Any], *, is_here: bool) -> VnfRow:
    return VnfRow(
        name=one["name"],
        what=f"{one['kind']}, {one['forwarding']}",
        host=one["host"],
        instance=_known(one["instance"]) if is_here else "",
        stack=_known(one["stack"]) if is_here else "",
        tacker=f"{one['tacker_api']} {one['tacker_id']}" if one["tacker_id"] else "",
    )


def _known(identifier: str) -> str:
    """Return an id that a page of Horizon can be asked for by; empty where it is none."""
    return identifier if _ID.fullmatch(identifier) else ""


def _run(state: Mapping[str, Any], answer: Mapping[str, Any], url: str) -> RunRow:
    run = state["run"]
    identifier = run["id"]
    verdicts = tuple(_verdicts(answer["changes"], identifier, url))
    return RunRow(
        name=run["experiment"],
        began=_minute(run["started_at"]),
        age=_age(float(state["age_days"])),
        state=state["state"],
        link=f"{url}/runs/{quote(identifier, safe='')}",
        compare=f"{url}/compare?{urlencode({'runs': identifier})}",
        verdicts=verdicts,
        note=_note(answer, identifier, len(verdicts)),
    )


def _note(answer: Mapping[str, Any], run: str, shown: int) -> str:
    """Say what there is beside the verdicts that are shown, or why there are none."""
    refused = next((line for line in answer["not_compared"] if line.startswith(f"run {run}: ")), "")
    if refused:
        return f"not compared: {refused.partition(': ')[2]}"
    if run not in answer["decided"]:
        return _OLDER
    more = int(answer["decided"][run]) - shown
    if shown:
        return f"and {more} more" if more > 0 else ""
    return f"{more} decided differences" if more > 0 else _NONE_DECIDED


def _verdicts(changes: list[Mapping[str, Any]], run: str, url: str) -> Iterator[VerdictRow]:
    for change in changes:
        if change["run"] != run:
            continue
        variants = [("variants", change["baseline"]), ("variants", change["variant"])]
        query = urlencode([("runs", run), *variants, ("baseline", change["baseline"])])
        text = (
            f"{change['variant']} {change['words']} against {change['baseline']}, "
            f"{change['times']} {change['interval']}, {change['point']} ({change['scope']})"
        )
        yield VerdictRow(text, f"{url}/compare?{query}")


def _minute(moment: str) -> str:
    """Return a stored time to the minute; what follows it (a command) is left out."""
    return moment[:16].replace("T", " ")


def _age(days: float) -> str:
    seconds = days * _DAY_S
    for unit, length in (("d", _DAY_S), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
