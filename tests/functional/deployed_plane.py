"""A variant that is deployed once for all checks that hold for every data plane, and what they need of it."""

import contextlib
import os
import re
import signal
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pyroute2 import IPRoute

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.dataplanes.dataplane import DataPlane
from nfvbed.dataplanes.quirks import Quirks
from nfvbed.errors import UnsupportedError
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.network.namespaces import inside
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import CellRole, Deployment, PortKind, Readiness, VnfKind
from nfvbed.records.readings import Part, Reading
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.site import Site
from nfvbed.spec.choices import resolve
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice, VnfUse
from nfvbed.traffic.generator import Generator, TrafficRequest
from tests import support
from tests.functional.brought_doubles import DOUBLES
from tests.functional.declared import PROJECT, validated
from tests.functional.lab_host import MARK, assert_back_to, left_as_found, settled_snapshot

MANIFEST = support.manifest()["variants"]
COUNTED = TrafficRequest(duration_ns=1_000_000_000, frame_size=64, rate_pps=5_000, frames=500, learning_frames=1)
"""A trial whose frames are counted."""
SLOWLY = TrafficRequest(duration_ns=2_000_000_000, frame_size=64, rate_pps=200, frames=200, learning_frames=1)
"""Such a trial through a guest, whose processor may be emulated."""
LINK = "s1"
"""Link of a switch in the kernel, which ends with the link."""


@dataclass(frozen=True)
class Case:
    """A variant on a path, and with what this host runs it."""

    variant: Variant
    topology: str
    double: bool = False
    """Whether a double is in the place of a program that the user brings."""
    role: CellRole = CellRole.SUBJECT

    @property
    def boots(self) -> bool:
        """Whether the VNFs that belong to it are virtual machines, which boot for ten seconds and longer."""
        return self.variant.native_vnf is not None and self.variant.native_vnf.kind is VnfKind.VM

    @property
    def guests(self) -> bool:
        """Whether there are any on this path."""
        return self.topology != "p2p" and self.boots

    def param(self, slow: bool = False) -> Any:
        """Return it as a parameter of tests."""
        name = f"{self.variant.name}{'-double' if self.double else ''}"
        return pytest.param(self, id=name, marks=[pytest.mark.slow] if slow else [])


def _entry(name: str) -> dict[str, Any]:
    entry = MANIFEST[name]
    return {"readiness": "ready"} if os.environ.get(entry.get("brought_by", "")) else support.here(entry)


def _may_run(name: str) -> bool:
    """Whether the manifest asks of this host that it runs a variant, or leaves it open."""
    wanted = _entry(name)["readiness"]
    return wanted != Readiness.UNSUPPORTED.value


def _cases(names: tuple[str, ...], topologies: tuple[str, ...]) -> Iterator[Case]:
    for name in names:
        variant = _as_tested(name)
        offered = [topology for topology in topologies if not variant.lacks(topology)]
        if offered and not variant.options.is_simulated and (_may_run(name) or name in DOUBLES):
            yield Case(variant, offered[0], double=not _may_run(name))


def _as_tested(name: str) -> Variant:
    return validated(name, **CATALOGUE.quirks(PROJECT.load_variant(name)).quick)


def _shortest() -> list[Case]:
    return list(_cases(PROJECT.variant_names, ("p2p", "pvp")))


def _first(cases: list[Case], key: Callable[[Case], object]) -> list[Case]:
    """Return of each key the case that takes the least memory, but none whose guests boot."""
    found: dict[object, Case] = {}
    for case in sorted(cases, key=lambda case: case.variant.hugepages_mib):
        if not case.guests:
            found.setdefault(key(case), case)
    return list(found.values())


def _plane_and_ports(case: Case) -> object:
    return case.variant.options.dataplane, case.variant.port_kind


def _params(cases: list[Case], quick: list[Case]) -> list[Any]:
    return [case.param(slow=case not in quick) for case in cases]


def data_planes() -> list[Any]:
    """Return every variant that this host runs, on the shortest path that it has; one of each plane is not slow."""
    cases = [case for case in _shortest() if not case.guests]
    return _params(cases, _asked_all(cases))


def _asked_all(cases: list[Case]) -> list[Case]:
    """Return of each data plane with each kind of ports the case of which `make test` asks everything."""
    return _first([case for case in cases if not CATALOGUE.quirks(case.variant).composed], _plane_and_ports)


def other_variants() -> list[Any]:
    """Return those of which all is asked in the tier slow alone; what takes long to deploy or boot is there as well."""
    cases = _shortest()
    first = _asked_all(cases)
    return [
        case.param(slow=case.guests or bool(CATALOGUE.quirks(case.variant).quick))
        for case in cases
        if case not in first
    ]


def paths_with_vnf() -> list[Any]:
    """Return every variant that this host runs on a path through one VNF; one of each kind of its ports is not slow."""
    cases = [case for case in _cases(PROJECT.variant_names, ("pvp",)) if not case.guests and not case.double]
    return _params(cases, _first(cases, lambda case: case.variant.options.vnf_port_kind(vnf_for(case.variant))))


def ceilings() -> list[Any]:
    """Return every ceiling of every kind of ports, as the first variant with such ports has it.

    Those of veth ports without offloads are slow: `TestOtherVariant` has such ports with a switch.
    """
    cases = [case for case in _cases(PROJECT.variant_names, ("p2p",)) if not case.double and not case.boots]
    found = []
    for case in _first(cases, lambda case: case.variant.ports):
        for role in (CellRole.LOOPBACK, CellRole.REFERENCE, CellRole.VNF):
            topology = "pvp" if role is CellRole.VNF else "p2p"
            settings = case.variant.options.port_settings(case.variant.port_kind)
            marks = [pytest.mark.slow] if "no-offloads" in settings else []
            ceiling = replace(case, role=role, topology=topology)
            found.append(pytest.param(ceiling, id=f"{case.variant.ports}-{role}", marks=marks))
    return found


def refused() -> tuple[str, ...]:
    """Return the variants of which the manifest says that this host does not run them."""
    return tuple(name for name in PROJECT.variant_names if not _may_run(name))


def vnf_for(variant: Variant) -> VnfChoice:
    """Return a VNF that is a process of its own: raw Ethernet on the kernel's ports, else the variant's native one."""
    for use in (VnfUse(forwarding="raw"), variant.native_vnf):
        choice = None if use is None else resolve(use, variant, PROJECT)
        with contextlib.suppress(UnsupportedError):
            if choice is not None:
                variant.options.vnf_port_kind(choice)
                return choice
    raise AssertionError(f"{variant.name} has no VNF")


@dataclass
class DeployedPlane:
    """One deployment, its generator, and what is known of its data plane."""

    site: Any
    variant: Variant
    deployment: Deployment
    mark: str
    before: dict[str, Any]
    """The host, before anything was deployed."""
    counted: TrafficRequest = COUNTED
    _generator: Generator | None = None

    @property
    def quirks(self) -> Quirks:
        """What its data plane declares."""
        return CATALOGUE.quirks(self.variant)

    @property
    def port_kinds(self) -> set[PortKind]:
        """Kinds of all ports, the generator's and the VNFs'."""
        inner = {port.kind for ports in self.deployment.vnf_ports for port in ports}
        return inner | {port.kind for port in self.deployment.ports}

    @property
    def adapter(self) -> DataPlane:
        """A data plane's adapter that knows nothing but the deployment's record, as another process has it."""
        return CATALOGUE.data_plane(self.variant)

    @property
    def why_no_reset(self) -> str:
        """A regular expression of the reason why it cannot be reset; empty: it can."""
        if type(self.adapter).reset is DataPlane.reset:
            return "there is no reset"
        return next((why for kind, why in self.quirks.no_reset.items() if kind in self.port_kinds), "")

    @property
    def process(self) -> ManagedProcess | None:
        """The process that is its switch; None: it is the kernel."""
        workspace = self.site.host_view(self.deployment).workspace
        return workspace.process(self.quirks.process) if self.quirks.process else None

    @property
    def generator(self) -> Generator:
        """The generator, opened as a measurement opens it: a link may be up before the switch takes frames."""
        if self._generator is None:
            self._generator = self.site.open_generator(self.deployment)
            wait_for_links(self._generator)
            self.site.wait_for_generator(self.deployment)
            self._generator.run(replace(self.counted, duration_ns=100_000_000, frames=None))
        return self._generator

    def close_generator(self) -> None:
        """Close it; the next one that is asked for is another process."""
        if self._generator is not None:
            self._generator.close()
            self._generator = None

    def look(self) -> Reading:
        """Read hops and counters."""
        return self.site.look(self.deployment, Part.HOPS, Part.COUNTERS)

    def end_switch(self) -> None:
        """Kill its process; of a switch in the kernel, remove a link."""
        if self.process is not None:
            os.kill(self.process.pid, signal.SIGKILL)
            return

        def remove() -> None:
            with IPRoute() as route:
                route.link("del", index=route.link_lookup(ifname=LINK)[0])

        inside(self.deployment.control["switch_netns"], remove)

    def deploy_again(self) -> None:
        """Take it down after its switch has ended, and deploy the same."""
        self.close_generator()
        self.site.destroy(self.deployment)
        self.deployment = self.site.deploy(self.variant, self.deployment.topology)

    def destroy(self) -> None:
        """Take it down; the host is as it was before it was deployed."""
        self.close_generator()
        self.site.destroy(self.deployment)
        assert_back_to(self.before, self.mark)


@contextlib.contextmanager
def deployed(case: Case, folder: Path, vnf: VnfChoice | None = None) -> Iterator[DeployedPlane]:
    """Deploy a case on this host, which is as before afterwards."""
    mark = uuid.uuid4().hex
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MARK, mark)
        if case.double:
            DOUBLES[case.variant.name](patch, folder)
        with left_as_found(_lab(), mark) as site:
            support = site.probe(case.variant)
            if support.readiness is Readiness.UNSUPPORTED:
                skip_if_declared(case, support.reason)
            before = settled_snapshot(mark)
            deployment = site.deploy(case.variant, case.topology, case.role, vnf)
            request = SLOWLY if case.guests else COUNTED
            plane = DeployedPlane(site, case.variant, deployment, mark, before, request)
            try:
                yield plane
            finally:
                plane.close_generator()
                with contextlib.suppress(Exception):
                    site.destroy(plane.deployment)


def skip_if_declared(case: Case, reason: str) -> None:
    """Skip a case that this host does not run, which the manifest must allow; else fail, each with the reason.

    A double is there to run: what it cannot do is a fault of the double, or of the host that the manifest describes.
    """
    name = case.variant.name
    if case.double:
        pytest.fail(f"{name} does not run with the double of its program: {reason}")
    wanted = _entry(name)
    if Readiness.UNSUPPORTED.value not in _each(wanted["readiness"]):
        pytest.fail(f"{name} does not run here, and tests/support.yml says that it does: {reason}")
    if "not" in wanted and re.search(wanted["not"], reason):
        pytest.fail(f"{name} does not run here, for a reason that tests/support.yml rules out: {reason}")
    pytest.skip(reason)


def _each(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _lab() -> Site:
    return open_site(PROJECT.load_site("lab"), PROJECT.root)
