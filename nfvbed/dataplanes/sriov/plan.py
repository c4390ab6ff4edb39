"""Which virtual function is which port, how it is used, and with which settings; nothing touches the host."""

from dataclasses import dataclass
from typing import Literal

from nfvbed.dataplanes.sriov.options import SriovOptions, VfSettings
from nfvbed.dataplanes.wiring import end_mac
from nfvbed.errors import UnsupportedError
from nfvbed.host.network.veth import MACS
from nfvbed.records import VnfKind
from nfvbed.spec.layout import End, Layout
from nfvbed.spec.vnf import VnfChoice

Use = Literal["kernel", "dpdk", "guest"]
"""A network device; DPDK's own driver; a PCI device for QEMU."""


@dataclass(frozen=True)
class FunctionPlan:
    """One virtual function."""

    index: int
    end: End
    use: Use
    settings: VfSettings
    """Settings, always with an address."""

    @property
    def name(self) -> str:
        """The port's name: p0, v1a, v1b, ..., p1."""
        return self.end.name

    @property
    def mac(self) -> str:
        """Its MAC address."""
        return self.settings.mac or ""

    @property
    def netdev(self) -> str:
        """Its network device in the namespace of its user."""
        return f"g{self.end.port}" if self.end.vnf is None else f"eth{self.end.vnf + 1}{'ab'[self.end.port]}"

    @property
    def space(self) -> str:
        """The name of that namespace."""
        return "generator" if self.end.vnf is None else f"vnf{self.end.vnf + 1}"


def plan_functions(plan: Layout, options: SriovOptions, choice: VnfChoice | None) -> tuple[FunctionPlan, ...]:
    """Return the functions in the order of the path; their indices are in that order too.

    Raises:
        UnsupportedError: the settings do not fit the topology.
    """
    ends = plan.switch_ends
    cable_of = {end: number for number, cable in enumerate(plan.cables) for end in (cable.first, cable.second)}
    return tuple(
        FunctionPlan(index, end, _use(end, options, choice), _settings(plan, options, end, cable_of[end]))
        for index, end in enumerate(ends)
    )


def cables(plan: Layout, functions: tuple[FunctionPlan, ...]) -> list[tuple[int, int]]:
    """Return the cables as pairs of functions' indices."""
    index_of = {one.end: one.index for one in functions}
    return [(index_of[cable.first], index_of[cable.second]) for cable in plan.cables]


def _use(end: End, options: SriovOptions, choice: VnfChoice | None) -> Use:
    if end.vnf is not None and choice is not None and choice.kind is VnfKind.VM:
        return "guest"
    return options.attach


def _settings(plan: Layout, options: SriovOptions, end: End, cable: int) -> VfSettings:
    asked = options.settings_of(end.name)
    if asked.mac is not None and end.vnf is None and plan.vnfs:
        raise UnsupportedError(
            "the generator's ports keep their addresses where there are VNFs",
            where=f"ports.{end.name}.mac",
            observed="the VNFs at the ends send to the generator's known addresses",
            fix="leave mac out, or topology p2p",
        )
    own = MACS[f"g{end.port}"] if end.vnf is None else end_mac(end)
    laid_down: dict[str, str | int] = {"mac": asked.mac or own}
    if options.vlan_per_cable is not None:
        laid_down["vlan"] = options.vlan_per_cable + cable
    return asked.model_copy(update=laid_down)
