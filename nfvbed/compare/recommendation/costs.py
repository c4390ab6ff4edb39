"""What a data plane takes of its host, from its file, its stored CPU times and the doctor's findings."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from nfvbed.compare.agreement import supports_of
from nfvbed.compare.rows.cost import Share, busy_cores
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import PortKind, Readiness, Record, Role, TrialRecord

POLLING: Final = 0.95
"""A core that is this busy at a load far below the maximum polls."""
FAR_BELOW: Final = 0.75
"""Part of the maximum receive rate: a load up to here leaves what does not poll with nothing to do now and then."""
ON_NICS: Final = (PortKind.VF, PortKind.PCI)


class HostCost(Record):
    """What running a data plane takes."""

    cores_at_maximum: Share = None
    """Busy cores of the switch at maximum load; None: not recorded."""
    cores_at_load: Share = None
    """The same at the given load that was measured beside it."""
    load_fraction: float | None = None
    """That load, as a part of the maximum receive rate."""
    polls: bool | None = None
    """Whether its cores are busy whatever the load is; None: not known."""
    hugepages_mib: int | None = None
    """Hugepages of the variant's own, as its file says; None: its file is not stored."""
    port_kind: PortKind
    nic: str = ""
    """What its NICs can do, as the doctor found; empty where it needs none, or was not asked."""
    readiness: Readiness | None = None
    """What the doctor found; None: not asked."""
    lacks: str = ""
    """What the doctor found lacking where it is degraded."""


def cost_of(
    row: CellSummary,
    given: Sequence[TrialRecord],
    configuration: Mapping[str, Any],
    doctor: Mapping[str, Any],
) -> HostCost:
    """Return what a row's data plane takes.

    Args:
        given: its trials at a given load.
        configuration: what its configuration hash stands for; empty: not stored.
        doctor: the report stored with its run; empty: none was made.
    """
    at_load = busy_cores(given, Role.SWITCH)
    fraction = _fraction(row, given)
    support = next((entry for entry in supports_of(doctor) if entry.variant == row.variant), None)
    degraded = support is not None and support.readiness is Readiness.DEGRADED
    return HostCost(
        cores_at_maximum=row.cpu.switch,
        cores_at_load=at_load,
        load_fraction=fraction,
        polls=_polls(row.cpu.switch, at_load, fraction),
        hugepages_mib=configuration.get("variant", {}).get("hugepages_mib"),
        port_kind=row.port_kind,
        nic=_nic(row.port_kind, doctor),
        readiness=support.readiness if support else None,
        lacks=support.reason if support and degraded else "",
    )


def _fraction(row: CellSummary, given: Sequence[TrialRecord]) -> float | None:
    loads = [trial.intended_load_pps for trial in given if trial.intended_load_pps]
    return max(loads) / row.mrr.median_pps if loads and row.mrr and row.mrr.median_pps else None


def _polls(at_maximum: Share, at_load: Share, fraction: float | None) -> bool | None:
    if not isinstance(at_maximum, float) or not isinstance(at_load, float) or fraction is None or fraction > FAR_BELOW:
        return None
    return at_maximum > 0 and at_load >= POLLING * at_maximum


def _nic(kind: PortKind, doctor: Mapping[str, Any]) -> str:
    if kind not in ON_NICS or not doctor:
        return ""
    topic = "sriov" if kind is PortKind.VF else "nics"
    found = doctor.get(topic)
    return str(found.get("summary", "")) if isinstance(found, dict) else ""
