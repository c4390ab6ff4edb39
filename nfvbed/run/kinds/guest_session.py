"""What the tests inside guests share: forwarding paused and seen to go on, warnings, figures of repeated runs."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.host.cores.topology import read_topology
from nfvbed.measure.warnings import vnf_warnings
from nfvbed.records import Hop, HopKind, QualityWarning, Status
from nfvbed.records.readings import Part, Unavailable, available
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run import requests
from nfvbed.run.kinds.celltest import CellTest, Outcome
from nfvbed.units import NS_PER_S
from nfvbed.vnfs.guest.machines import RESUME_S, Machine, PathGuests, machines, path_guests, paused
from nfvbed.vnfs.guest.pinning import Pinning, read_pinning
from nfvbed.vnfs.vm.agent import AgentRefused

_PROBE_PPS = 1_000
_PROBE_S = 0.1
_AGAIN_S = 0.1


def guests_here(cell_test: CellTest) -> PathGuests | Outcome[TablePayload]:
    """Return the guests of a cell on this machine; or the outcome where it has none."""
    deployment, site = cell_test.setup.deployment, cell_test.setup.site
    if deployment.vnfs and site.host_view(deployment) is None:
        reason = f"its guests are not this machine's, whose threads and cores are read: site {site.name} is no host"
        return Outcome(None, Status.NOT_APPLICABLE, reason)
    found = path_guests(deployment)
    return Outcome(None, Status.NOT_APPLICABLE, found.reason) if isinstance(found, Unavailable) else found


@contextlib.contextmanager
def working_inside(cell_test: CellTest, guests: PathGuests) -> Iterator[None]:
    """Pause the forwarding of all guests, and resume it afterwards until frames that pass prove it.

    Raises:
        OnboardError: forwarding does not resume; the deployment is of no use any more.
    """
    try:
        with paused(guests.guests):
            yield
    except (AgentRefused, UnsupportedError):
        _see_forwarding(cell_test)
        raise
    _see_forwarding(cell_test)


def in_first_guest(
    cell_test: CellTest, measure: Callable[[Machine, Pinning], Iterable[MeasuredRow]]
) -> Outcome[TablePayload]:
    """Measure in the guest of the first VNF, while all are paused; pinning and warnings are reported with it.

    Raises:
        OnboardError, AgentRefused, UnsupportedError: as `working_inside`, and as what measures.
    """
    guests = guests_here(cell_test)
    if isinstance(guests, Outcome):
        return guests
    first = machines(cell_test.setup.deployment)[0]
    with working_inside(cell_test, guests):
        pinning = pinning_of(first)
        rows = tuple(measure(first, pinning))
    return Outcome(TablePayload(rows=rows, notes=notes_on(pinning)), warnings=warnings_of_test(cell_test))


def threads_named(threads: int) -> str:
    """Return a number of threads in words."""
    return f"{threads} {'thread' if threads == 1 else 'threads'}"


def pinning_of(guest: Machine) -> Pinning:
    """Read how a guest is pinned on this host."""
    return read_pinning(guest, read_topology())


def notes_on(pinning: Pinning) -> tuple[str, ...]:
    """Return what the pinning is, and where it can make no difference."""
    reported = [f"NUMA pinning {pinning.state}: {pinning.described}."]
    if pinning.host_nodes == 1:
        reported.append(
            "This host has one NUMA node: pinning to it shortens no way to the memory, so that on and off differ by "
            "the scheduler alone."
        )
    return tuple(reported)


def warnings_of_test(cell_test: CellTest) -> tuple[QualityWarning, ...]:
    """Return the warnings about figures from inside: an emulated processor, cores that others use as well."""
    deployment = cell_test.setup.deployment
    shared = any(handle.shares_core for handle in deployment.vnfs)
    return (*vnf_warnings(deployment), *((QualityWarning.CORES_SHARED,) if shared else ()))


def quantity(name: str, unit: str, values: Sequence[float]) -> Quantity:
    """Return the median of repeated runs, with the least and the greatest where there are several."""
    several = len(values) > 1
    return Quantity(
        name=name,
        value=median(values),
        unit=unit,
        low=min(values) if several else None,
        high=max(values) if several else None,
    )


def _see_forwarding(cell_test: CellTest) -> None:
    """Send frames, again and again, until every port of every guest has counted some."""
    site, deployment, cell = cell_test.setup.site, cell_test.setup.deployment, cell_test.cell
    probe = replace(
        requests.plain(cell_test.plan.experiment, cell), rate_pps=_PROBE_PPS, duration_ns=round(_PROBE_S * NS_PER_S)
    )

    def send() -> None:
        if cell.takes_loads:
            cell_test.setup.measures.warm_up(probe)
        else:
            time.sleep(_AGAIN_S)  # A VNF sends by itself.

    wait_until_counted(lambda: available(site.look(deployment, Part.HOPS).hops) or (), send, RESUME_S)


def wait_until_counted(hops: Callable[[], tuple[Hop, ...]], send: Callable[[], None], timeout_s: float) -> None:
    """Send until the counters of all guests' ports have risen.

    Args:
        hops: reads the counters of the path.

    Raises:
        OnboardError: a counter did not rise in time.
    """
    before = _frames(hops())
    deadline = time.monotonic() + timeout_s
    while True:
        send()
        idle = [name for name, frames in _frames(hops()).items() if frames <= before.get(name, 0)]
        if not idle:
            return
        if time.monotonic() > deadline:
            raise OnboardError(
                f"no frame passes the guests {timeout_s:g} s after they forward again",
                where=", ".join(idle),
                observed="their counters do not change",
                fix="see the guest's console in the run directory",
            )
        time.sleep(_AGAIN_S)


def _frames(hops: Sequence[Hop]) -> dict[str, int]:
    """Return the frames that guests' ports have counted, whichever way they went.

    Where guests are not asked, a cloud's, these are the frames that the switch's ports have counted both ways.
    """
    of_guests = [hop for hop in hops if hop.kind is HopKind.VNF_PORT]
    if of_guests:
        return {hop.name: (hop.rx_packets or 0) + (hop.tx_packets or 0) for hop in of_guests}
    both = [hop for hop in hops if hop.rx_packets is not None and hop.tx_packets is not None]
    return {hop.name: min(hop.rx_packets or 0, hop.tx_packets or 0) for hop in both}
