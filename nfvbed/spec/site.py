"""`deploy/sites/*.yml`: where it runs."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from nfvbed.errors import ConfigurationError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.model import SpecModel
from nfvbed.spec.onos import OnosSpec
from nfvbed.spec.options import kinds_named
from nfvbed.spec.pci import Cables
from nfvbed.spec.variant import VariantFile

BELOW_4_GIB_MIB = 2816
"""From here on a q35 machine of QEMU has memory above 4 GiB."""


class ArrangementSpec(SpecModel):
    """Who sits on which core. `auto` takes the first cores that are allowed, isolated ones first."""

    switch_cores: tuple[int, ...] | Literal["auto"] = "auto"
    """Cores of the switch's threads."""
    generator_core: int | Literal["auto"] = "auto"
    """Core of the generator's polling thread."""


class GuestSpec(SpecModel):
    """The virtual machine of a site of kind `guest`: a compute node with this host's files and a kernel of its own."""

    vcpus: int = Field(2, ge=2, le=64)
    """Number of vCPUs."""
    memory_mib: int = Field(3072, ge=1024)
    """Memory of the machine."""
    devices: tuple[Literal["iommu", "igb", "cabled-nics"], ...] = ()
    """Devices beside them, in order."""

    @model_validator(mode="after")
    def nic_has_room_below_4_gib(self) -> Self:
        if "igb" in self.devices and self.memory_mib >= BELOW_4_GIB_MIB:
            raise ValueError(
                f"with the device igb a guest has less than {BELOW_4_GIB_MIB} MiB: with more, the firmware puts the "
                "registers of virtual functions above 4 GiB, where QEMU 10.0 does not find them"
            )
        return self


class SiteSpec(SpecModel):
    """One place to deploy to: what files of all kinds of site have."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    kind: str
    """Kind of site, which decides what else its file may say."""
    summary: str = ""

    @property
    def only_vnf_kind(self) -> VnfKind | None:
        """What every VNF runs in here; None: in whatever is asked for."""
        return None

    def generator_port_kind(self, variant: VariantFile, named: str = "") -> PortKind:
        """Answer how this site's generator is attached to a variant: as its data plane has it by itself.

        Args:
            variant: as declared.
            named: by which name the site's file may have it; of a variant that an experiment alters, its file's.

        Raises:
            ConfigurationError: the site's file names a kind of ports that the data plane has not.
        """
        return variant.options.port_kinds[0]


class HostSiteSpec(SiteSpec):
    """A site that is a machine, on which nfvbed itself runs."""

    arrangement: ArrangementSpec = ArrangementSpec()
    """Cores of switch and generator."""
    generator_hugepages_mib: int = Field(512, ge=128)
    """Hugepage memory for the generator and the reference, on top of the variant's own."""
    generator_port_kinds: dict[str, PortKind] = Field(default_factory=dict)
    """Kinds of the generator's ports, by the variant's name, where its data plane has several and another one than the
    first is wanted: `{vpp: memif}`."""
    onos: OnosSpec | None = None
    """ONOS that `steering: onos` uses."""
    cables: Cables = ()
    """Network ports of this machine that are joined in pairs, for variants with ports on NICs (`port_type: pci`); for a
    site of kind `guest`: ports of its machine. nfvbed takes all four from the kernel while such a variant is
    deployed."""

    def generator_port_kind(self, variant: VariantFile, named: str = "") -> PortKind:
        """As the file has it for this variant, else as any site."""
        name = named or variant.name
        wanted, offered = self.generator_port_kinds.get(name), variant.options.port_kinds
        if wanted is None:
            return super().generator_port_kind(variant, named)
        if wanted not in offered:
            raise ConfigurationError(
                f"variant {variant.name} has no ports of kind {wanted.value} for a generator",
                where=f"deploy/sites/{self.name}.yml generator_port_kinds.{name}",
                observed=repr(wanted.value),
                fix=f"{variant.options.dataplane} with these options has ports of kind {kinds_named(offered)}",
            )
        return wanted


class LabSiteSpec(HostSiteSpec):
    """This machine."""

    kind: Literal["lab"]
    """Kind of site: this machine."""
    guest: None = None
    """Virtual machine; no lab has one, but the plans of stored runs have the key."""

    @field_validator("guest", mode="before")
    @classmethod
    def no_machine_of_its_own(cls, value: object) -> None:
        if value is not None:
            raise ValueError("a site of kind guest has the key guest, and no other has it")


class GuestSiteSpec(HostSiteSpec):
    """A virtual machine on this machine, which lives as long as a command."""

    kind: Literal["guest"]
    """Kind of site: a virtual machine on this machine, which lives as long as a command."""
    guest: GuestSpec
    """Virtual machine of the site."""


class DevcloudSiteSpec(HostSiteSpec):
    """An OpenStack on this machine, in namespaces of its own."""

    kind: Literal["devcloud"]
    """Kind of site: an OpenStack on this machine."""
    onboarding: Literal["legacy", "sol"] = "legacy"
    """API of Tacker through which VNFs are onboarded: the one of Ocata's time, or ETSI's (SOL002/003, v1)."""
    hugepages_mib: int = Field(1920, ge=768)
    """Hugepage memory that is reserved for the cloud when it starts: 384 MiB for its switch, the rest for guests."""

    @property
    def only_vnf_kind(self) -> VnfKind | None:
        """Nova runs virtual machines."""
        return VnfKind.VM

    @field_validator("cables", "onos", mode="before")
    @classmethod
    def no_lab(cls, value: object) -> object:
        if value:
            raise ValueError(
                "cables and onos are of sites of kind lab and guest: Neutron decides about a cloud's switch"
            )
        return value


AnySite = Annotated[LabSiteSpec | GuestSiteSpec | DevcloudSiteSpec, Field(discriminator="kind")]
"""The kinds of site that there are."""
