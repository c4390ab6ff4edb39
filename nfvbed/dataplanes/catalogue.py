"""Which data planes there are, each in a package (a room) of its own; and where the ceilings of a kind of ports are.

A room is a package. Its module `options` has the model of a variant's options, named by its `dataplane`; its module
`adapter` has the class that deploys it, named by its `kind`. Options are read where the data plane and its libraries
are not; adapters are imported when they are asked for: one whose library is missing takes no other down.
Where kolla-ansible can deploy the data plane, its module `kolla` has the record for that, `KOLLA`; a room of several
data planes has a tuple of them. Where VSPERF measures it too, its module `vsperf` has the record for that, `VSPERF`.
"""

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.dataplanes.quirks import Quirks
from nfvbed.dataplanes.vsperfswitch import VsperfSwitch
from nfvbed.dataplanes.wiring import vnf_port_kind
from nfvbed.errors import InternalError, PrerequisiteError, UnsupportedError
from nfvbed.records import CellRole, PortKind
from nfvbed.records.drops import CounterMeanings
from nfvbed.spec.loader import Project
from nfvbed.spec.options import DataPlaneOptions, name_of
from nfvbed.spec.variant import Variant, VariantFile, variant_model
from nfvbed.spec.vnf import VnfChoice

if TYPE_CHECKING:
    # What only reads files and stored runs needs nothing of a host, which the interface of adapters is about.
    from nfvbed.dataplanes.dataplane import DataPlane

ROOMS = {
    "described-switch": "nfvbed.dataplanes.described",
    "existing": "nfvbed.dataplanes.existing",
    "lagopus": "nfvbed.dataplanes.lagopus",
    "lagopus-raw": "nfvbed.dataplanes.lagopus",
    "linux-bridge": "nfvbed.dataplanes.linux_bridge",
    "macvtap": "nfvbed.dataplanes.macvtap",
    "ovn": "nfvbed.dataplanes.ovs.ovn",
    "ovn-afxdp": "nfvbed.dataplanes.ovs.ovn",
    "ovn-kernel": "nfvbed.dataplanes.ovs.ovn",
    "ovn-overlay": "nfvbed.dataplanes.ovs.ovn_overlay",
    "ovs-afxdp": "nfvbed.dataplanes.ovs.afxdp",
    "ovs-dpdk": "nfvbed.dataplanes.ovs.dpdk",
    "ovs-kernel": "nfvbed.dataplanes.ovs.kernel",
    "ovs-overlay": "nfvbed.dataplanes.ovs.overlay",
    "simulated": "nfvbed.traffic.simulated",
    "sriov": "nfvbed.dataplanes.sriov",
    "vale": "nfvbed.dataplanes.vale",
    "vpp": "nfvbed.dataplanes.vpp",
    "xdp": "nfvbed.dataplanes.xdp",
}
"""The package of each data plane, by the name that variants have in `options.dataplane`."""


class Catalogue:
    """The data planes that variants can name.

    Args:
        rooms: the package of each, by its name.
    """

    def __init__(self, rooms: Mapping[str, str]) -> None:
        self._rooms = dict(sorted(rooms.items()))

    @cached_property
    def options(self) -> tuple[type[DataPlaneOptions], ...]:
        """Return the models of all data planes' options, by name.

        Raises:
            InternalError: a room has none of its name.
        """
        return tuple(self._options(name) for name in self._rooms)

    @cached_property
    def variant_model(self) -> type[Variant]:
        """Return the model of variants of these data planes."""
        return variant_model(self.options, Variant)

    @cached_property
    def variant_file_model(self) -> type[VariantFile]:
        """Return the model of these data planes' variant files."""
        return variant_model(self.options, VariantFile)

    @cached_property
    def drop_counters(self) -> CounterMeanings:
        """Return what drop counters mean: those of no data plane, and `TABLE` of each room's module `drops`."""
        return CounterMeanings(module.TABLE for module in self.modules("drops").values())

    @cached_property
    def kolla(self) -> Mapping[str, KollaPlane]:
        """Return the records for Kolla of the data planes that have one, by name.

        Raises:
            InternalError: a room has records, and none of this name.
        """
        found: dict[str, KollaPlane] = {}
        for name, module in self.modules("kolla").items():
            records = (module.KOLLA,) if isinstance(module.KOLLA, KollaPlane) else module.KOLLA
            own = [record for record in records if record.name == name]
            if not own:
                raise InternalError(f"there is no record for Kolla of {name!r}", where=f"{self._rooms[name]}.kolla")
            (found[name],) = own
        return MappingProxyType(found)

    @cached_property
    def vsperf(self) -> tuple[VsperfSwitch, ...]:
        """Return the records of the data planes that VSPERF measures too."""
        return tuple(module.VSPERF for module in self.modules("vsperf").values())

    def kolla_plane(self, name: str) -> KollaPlane:
        """Return a data plane's record for Kolla; where it has none, one that no release supports."""
        return self.kolla.get(name) or KollaPlane(name=name)

    def project(self, root: Path | None = None) -> Project:
        """Open the data folders below a root, whose variants are of these data planes; None: found."""
        return Project(root, self.variant_file_model, self.variant_model)

    def data_plane(
        self, variant: Variant, role: CellRole = CellRole.SUBJECT, vnf: VnfChoice | None = None
    ) -> "DataPlane":
        """Return the adapter of a variant, or of a ceiling: one of its ports, or a VNF's own.

        Raises:
            UnsupportedError: there is none.
            PrerequisiteError: a library that it needs is missing.
        """
        if role is CellRole.SUBJECT:
            return self._subject(variant)
        kind = vnf_port_kind(variant, vnf) if role is CellRole.VNF and vnf is not None else variant.port_kind
        found = ceilings(kind, variant).get(role)
        if found is None:
            known = ", ".join(sorted(kind for kind in PortKind if role in ceilings(kind, variant))) or "none"
            what = f"the lab has no {role} for ports of kind {kind}"
            raise UnsupportedError(what, where=f"variant {variant.name}", observed=f"it has {known}")
        return found()

    def quirks(self, variant: Variant) -> Quirks:
        """Return what a variant's data plane does otherwise than most; a room that declares nothing has no quirk."""
        module_name = f"{self._rooms[variant.options.dataplane]}.quirks"
        if find_spec(module_name) is None:
            return Quirks()
        module = _imported(module_name, variant)
        found: Quirks = module.quirks_of(variant) if hasattr(module, "quirks_of") else module.QUIRKS
        return found

    def modules(self, name: str) -> dict[str, ModuleType]:
        """Return the modules of this name, by data plane; rooms without one are left out."""
        names = {plane: f"{room}.{name}" for plane, room in self._rooms.items()}
        return {plane: import_module(one) for plane, one in names.items() if find_spec(one) is not None}

    def _options(self, name: str) -> type[DataPlaneOptions]:
        module = import_module(f"{self._rooms[name]}.options")
        for thing in vars(module).values():
            if isinstance(thing, type) and issubclass(thing, DataPlaneOptions) and name_of(thing) == name:
                return thing
        raise InternalError(f"a room has no options whose dataplane is {name!r}", where=module.__name__)

    def _subject(self, variant: Variant) -> "DataPlane":
        """Find the class in the room of that name: the one that has it as its `kind`."""
        name = variant.options.dataplane
        module_name = f"{self._rooms[name]}.adapter" if name in self._rooms else f"{__package__}.{name}"
        if name not in self._rooms or find_spec(module_name) is None:
            what = f"the lab has no data plane {name!r}"
            raise UnsupportedError(what, where=f"variant {variant.name}", observed=f"there is no module {module_name}")
        module = _imported(module_name, variant)
        for thing in vars(module).values():
            if isinstance(thing, type) and getattr(thing, "kind", "") == name:
                adapter: DataPlane = thing()
                return adapter
        raise InternalError(f"an adapter has no class whose kind is {name!r}", where=module_name)


def ceilings(kind: PortKind, variant: Variant) -> "Mapping[CellRole, type[DataPlane]]":
    """Return what can be deployed on ports of a kind without a switch: `CEILINGS` of `ports/<kind>_ceilings.py`.

    Args:
        kind: kind of the ports; the result is empty where there is no such module.

    Raises:
        PrerequisiteError: a library that they need is missing.
    """
    module_name = f"{__package__}.ports.{kind.replace('-', '_')}_ceilings"
    if find_spec(module_name) is None:
        return {}
    found: Mapping[CellRole, type[DataPlane]] = _imported(module_name, variant).CEILINGS
    return found


def _imported(module_name: str, variant: Variant) -> ModuleType:
    try:
        return import_module(module_name)
    except ImportError as failure:
        raise PrerequisiteError(
            f"variant {variant.name} needs a Python library", where=module_name, observed=str(failure), fix="make setup"
        ) from failure


CATALOGUE = Catalogue(ROOMS)
VariantModel = CATALOGUE.variant_model
"""Model of variants as they are deployed, and as they are in stored runs."""
open_project = CATALOGUE.project
kolla_plane = CATALOGUE.kolla_plane
data_plane = CATALOGUE.data_plane
