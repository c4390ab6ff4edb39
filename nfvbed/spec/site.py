"""`deploy/sites/*.yml`: where it runs."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from nfvbed.errors import ConfigurationError, InternalError
from nfvbed.records import Accelerator, PortKind, VnfKind
from nfvbed.spec.box import way_into_box
from nfvbed.spec.existing import DestinationMacs, ExistingPathSpec, Named, TwoPorts
from nfvbed.spec.layout import chain_length
from nfvbed.spec.model import MisfitError, SpecModel
from nfvbed.spec.onos import OnosSpec
from nfvbed.spec.options import kinds_named
from nfvbed.spec.pci import Cables
from nfvbed.spec.pins import PinnedComputesSpec
from nfvbed.spec.rack import Address, HostName, ImageSource, PhysnetName, PhysnetSpec, RackGeneratorSpec, RackHostSpec
from nfvbed.spec.remote import AbsolutePath, GeneratorHostSpec, RemoteHostSpec, SshAccessSpec
from nfvbed.spec.variant import Variant, VariantFile

BELOW_4_GIB_MIB = 2816
"""From here on a q35 machine of QEMU has memory above 4 GiB."""
DEVCLOUD_LINKS = 2
"""Networks of a devcloud between the VNFs of a chain."""
STAYS = "A deployment stays until it is destroyed; what a run deploys for itself is taken down when it ends."


class ArrangementSpec(SpecModel):
    """The cores of switch and generator. `auto` takes the first cores that are allowed, isolated ones first."""

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

    is_whole_cloud: ClassVar[bool] = False
    """Whether to destroy takes a whole cloud down, with all that its users have in it."""
    in_stages: ClassVar[bool] = False
    """Whether variants are deployed on its machines in stages, which make one cloud of them."""
    names_before_destroy: ClassVar[bool] = False
    """Whether the command that takes it down has to be told the site's name."""
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    kind: str
    """Kind of site, which decides what else its file may say."""
    summary: str = ""

    def in_project(self, root: Path) -> Self:
        """Return the site with what the folder of its project decides."""
        return self

    @property
    def only_vnf_kind(self) -> VnfKind | None:
        """What every VNF runs in here; None: in whatever is asked for."""
        return None

    @property
    def has_nova(self) -> bool:
        """Whether VNFs are instances of an OpenStack, and nfvbed itself starts none."""
        return self.only_vnf_kind is not None

    @property
    def only_variant(self) -> str | None:
        """The one variant that there is here; None: there are several."""
        return None

    @property
    def keeps_deployments(self) -> bool:
        """Whether what a command deploys here can stay when it ends."""
        return True

    @property
    def has_ceilings(self) -> bool:
        """Whether ceilings are measured here: of the generator, of ports, of VNFs."""
        return True

    @property
    def host(self) -> "HostSiteSpec | None":
        """What is said of this machine, where nfvbed measures on it, or from it; None: nothing is."""
        return None

    @property
    def exchanges(self) -> Mapping[str, str]:
        """Variants by compute as they are in rounds that have them exchanged; empty: a run exchanges none.

        Before such a round, and after it, the site is deployed again, with all that is on it.
        """
        return {}

    @property
    def named_variants(self) -> Mapping[str, Collection[str]]:
        """Variants that the file names, by the key that does, which the loader looks for."""
        return {}

    def changes(self, variants: Iterable[Variant]) -> tuple[str, ...]:
        """Return what a deployment makes here, and what of it stays; operators read it before they begin one.

        Args:
            variants: those that are chosen; loaded only when they are needed.
        """
        return (STAYS,)

    @property
    def chains(self) -> range | None:
        """Numbers of VNFs that the paths here can have, which are chains then; None: whatever a variant has."""
        return None

    def lacks(self, topology: str) -> str:
        """Return why this site has no such path, whatever the variant; empty where it has one."""
        if self.chains is None or chain_length(topology) in self.chains:
            return ""
        lengths = " or ".join(map(str, self.chains))
        return f"site {self.name} has no path {topology}: its paths are chains of {lengths} VNFs"

    def generator_port_kind(self, variant: VariantFile, named: str = "") -> PortKind:
        """Return how this site's generator is attached to a variant: by default, the data plane's first kind of ports.

        Args:
            named: the name that the site's file may have for it; for a variant that an experiment alters, its file's.

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
    first is wanted."""
    onos: OnosSpec | None = None
    """ONOS that `steering: onos` uses."""
    cables: Cables = ()
    """Network ports of this machine that are joined in pairs, for variants with ports on NICs (`port_type: pci`); for a
    site of kind `guest`: ports of its machine. nfvbed takes all four from the kernel while such a variant is
    deployed."""

    @property
    def host(self) -> "HostSiteSpec":
        """This machine."""
        return self

    @property
    def named_variants(self) -> Mapping[str, Collection[str]]:
        """Those whose generator's ports are of another kind."""
        return {"generator_port_kinds": self.generator_port_kinds}

    def changes(self, variants: Iterable[Variant]) -> tuple[str, ...]:
        """Return what is reserved or made on this machine, and what stays: memory, and what is in the ledger."""
        pages = {one.name: one.hugepages_mib for one in variants}
        needs = ", ".join(f"{name} {mib} MiB" for name, mib in pages.items() if mib)
        own = f"the generator up to {self.generator_hugepages_mib} MiB"
        return (
            f"Hugepages, while it is deployed: {own}{f'; {needs}' if needs else ''}.",
            "Network namespaces, links, a control group, processes pinned to cores, a folder below /run/nfvbed; all "
            "are in a ledger, and Destroy removes them, also after a crash.",
            STAYS,
        )

    def generator_port_kind(self, variant: VariantFile, named: str = "") -> PortKind:
        """Return the kind that the file names for this variant, else the kind by default."""
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

    @property
    def keeps_deployments(self) -> bool:
        """False: a deployment ends with the command."""
        return False

    def changes(self, variants: Iterable[Variant]) -> tuple[str, ...]:
        """Return that nothing outlives the command but results."""
        machine = f"{self.guest.vcpus} vCPUs and {self.guest.memory_mib} MiB"
        return (
            f"A virtual machine of {machine} boots for the command, sees this machine's files, and ends with the "
            "command.",
            "Nothing stays deployed, there or here; results are put into this store when the command ends.",
        )


class OwnCloudSiteSpec(SiteSpec):
    """An OpenStack that nfvbed deploys: its VNFs are virtual machines."""

    @property
    def only_vnf_kind(self) -> VnfKind | None:
        """Nova runs virtual machines."""
        return VnfKind.VM

    @property
    def has_ceilings(self) -> bool:
        """Instances are what bounds a result."""
        return False

    @property
    def chains(self) -> range:
        """The longest chain: as many VNFs as nfvbed's networks join."""
        return range(1, DEVCLOUD_LINKS + 2)


class DevcloudSiteSpec(OwnCloudSiteSpec, HostSiteSpec):
    """An OpenStack on this machine, in namespaces of its own."""

    is_whole_cloud = True
    kind: Literal["devcloud"]
    """Kind of site: an OpenStack on this machine."""
    onboarding: Literal["legacy", "sol", "sol-v2"] = "legacy"
    """API of Tacker through which VNFs are onboarded: the one of Ocata's time, or ETSI's (SOL002/003, v1 or v2).
    Descriptors in files of your own go to v1."""
    hugepages_mib: int = Field(2048, ge=768)
    """Hugepage memory that is reserved for the cloud when it starts: 512 MiB for its switch, the rest for guests."""
    computes: Literal[1, 2] = 1
    """Computes of a data plane. With 2 a second one is started beside the first, joined with it on all networks, on
    which machines of one VNF can be apart; only some data planes have one."""

    def changes(self, variants: Iterable[Variant]) -> tuple[str, ...]:
        """Return that the cloud is started, and stays."""
        return (
            "The cloud is started where it does not run: two minutes, ten or more the very first time. It takes about "
            f"3 GiB of memory and {self.hugepages_mib} MiB of hugepages, and stays.",
            "To deploy a variant lets new instances come to its compute, and to no other; the node of that compute is "
            "started where it has one of its own"
            + (", and a second compute, which takes as much hugepage memory again." if self.computes > 1 else "."),
            f"The generator takes up to {self.generator_hugepages_mib} MiB of hugepages while something is measured.",
            "Offboard lets Tacker remove the VNFs. Destroy takes the whole cloud down, with every instance on it, once "
            "the site's name is typed.",
        )

    @field_validator("cables", "onos", mode="before")
    @classmethod
    def no_lab(cls, value: object) -> object:
        if value:
            raise ValueError(
                "cables and onos are of sites of kind lab and guest: Neutron decides about a cloud's switch"
            )
        return value


class CloudSiteSpec(HostSiteSpec):
    """An OpenStack that exists already; this machine has the generator and nothing else of it."""

    kind: Literal["cloud"]
    """Kind of site: an OpenStack that exists already, named in a `clouds.yaml`."""
    os_cloud: Named
    """Name of the cloud in `clouds.yaml`, which is looked for as every OpenStack client does: where
    `OS_CLIENT_CONFIG_FILE` says, else in this folder, `~/.config/openstack` and `/etc/openstack`."""
    region: Named | None = None
    """Region; none: the one that `clouds.yaml` names."""
    networks: tuple[Named, Named]
    """Names or ids of the networks at the outside ends of a path, in its order."""
    links: tuple[Named, ...] = Field((), max_length=7)
    """Names or ids of the networks between the VNFs of a chain that Tacker onboards, in its order."""
    ports: TwoPorts | None = None
    """Devices of this machine that reach these networks, in the same order: the generator's. They are cabled to them
    before, untagged. In place of them: `generator`."""
    generator: GeneratorHostSpec | None = None
    """Another host that has the generator, reached over SSH, with its devices that reach these networks."""
    onboarding: Literal["legacy", "sol", "sol-v2", "none"]
    """API of Tacker through which VNFs are onboarded; none: what `existing` describes is measured."""
    existing: ExistingPathSpec | None = None
    """Instances that run already, for `onboarding: none`."""
    destination_macs: DestinationMacs = "neutron"
    """Destination addresses of frames from the first and the second port. `neutron`: those that Neutron has for the
    first and the last port of the path, which every kind of port takes. `any`: of no port, which bridges flood. Or
    two of your own."""
    accelerator: Literal[Accelerator.KVM, Accelerator.TCG] | None = None
    """Accelerator of the instances, as you know it; it cannot be read, and is not verified. `tcg`: results carry
    `emulated-accelerator`, and are not ranked."""

    @property
    def only_vnf_kind(self) -> VnfKind | None:
        """Virtual machines that Tacker makes, or what runs already."""
        return VnfKind.EXISTING if self.onboarding == "none" else VnfKind.VM

    @property
    def only_variant(self) -> str | None:
        """What the cloud runs."""
        return "existing"

    @property
    def has_ceilings(self) -> bool:
        """Instances are what bounds a result."""
        return False

    @property
    def chains(self) -> range:
        """The path that its file describes, or as many VNFs as its networks join."""
        if self.existing is not None:
            return range(self.existing.length, self.existing.length + 1)
        return range(1, len(self.links) + 2)

    def changes(self, variants: Iterable[Variant]) -> tuple[str, ...]:
        """Return that the generator's ports are taken, and that the cloud belongs to others."""
        ports = " and ".join(port.named for port in self.generator_ports)
        whose = "this machine" if self.generator is None else f"host {self.generator.address}"
        mine = "what Tacker onboarded from here" if self.existing is None else "what is remembered of it here"
        return (
            f"Nothing is deployed in that cloud ({self.os_cloud} in clouds.yaml). While it is measured, the generator "
            f"has {ports} of {whose}.",
            f"Destroy removes {mine}, and touches nothing of others.",
        )

    def generator_port_kind(self, variant: VariantFile, named: str = "") -> PortKind:
        """Return the kind of the generator's ports, where the variant is what an existing cloud runs."""
        kind = self.generator_ports[0].kind
        return kind if kind in variant.options.port_kinds else variant.options.port_kinds[0]

    @field_validator("cables", "onos", "generator_port_kinds", mode="before")
    @classmethod
    def no_switch_of_its_own(cls, value: object) -> object:
        if value:
            raise ValueError("no switch is set up on a cloud that exists; its generator has the devices of `ports`")
        return value

    @property
    def generator_ports(self) -> TwoPorts:
        """The generator's devices, wherever it is."""
        if self.generator is not None:
            return self.generator.ports
        if self.ports is None:
            raise InternalError("a cloud's file has ports or a generator", where=f"deploy/sites/{self.name}.yml")
        return self.ports

    @model_validator(mode="after")
    def generator_is_in_one_place(self) -> Self:
        if (self.ports is None) == (self.generator is None):
            raise ValueError(
                "the generator has ports of this machine, or generator names the host that has it: one of them"
            )
        if self.ports is not None and any(port.mac for port in self.ports):
            raise ValueError("mac is of a generator on another host: give ports of this machine as device or pci")
        return self

    @model_validator(mode="after")
    def path_is_described_once(self) -> Self:
        if self.networks[0] == self.networks[1]:
            raise ValueError("networks names one twice: the ends of a path are on two networks")
        if (self.existing is not None) != (self.onboarding == "none"):
            raise ValueError(
                "onboarding: none and existing belong together: either Tacker onboards VNFs, or existing says what is"
                " measured"
            )
        return self


class KollaSiteSpec(OwnCloudSiteSpec, PinnedComputesSpec):
    """Machines that kolla-ansible deploys an OpenStack on."""

    is_whole_cloud = True
    in_stages = True
    names_before_destroy = True
    kind: Literal["kolla"]
    """Kind of site: machines that kolla-ansible deploys."""
    machines: Literal["given", "box"] = "given"
    """Kind of the machines. `given`: they are there. `box`: nfvbed starts them on this machine as namespaces, with a
    switch and a registry (`nfvbed rack`)."""
    images: Literal["build", "pull"] | None = None
    """Origin of the images of a box. `build`, the default of a box: nfvbed makes them of packages, under Kolla's
    names. `pull`: Kolla's own, which this machine copies from their registry."""
    images_from: ImageSource | None = None
    """Registry and namespace that `images: pull` copies from, as registry.example.org:5000/openstack.kolla. None: where
    Kolla's own variables say. One on loopback is asked without TLS."""
    base_distro: Literal["debian", "ubuntu", "rocky", "centos"] = "debian"
    """Distribution of Kolla's images, and of the machines."""
    virtual_address: Address
    """Address of the APIs, which no machine has otherwise (`kolla_internal_vip_address`). It is in the management
    network; keepalived gives it to one controller at a time."""
    virtual_router_id: int | None = Field(None, ge=1, le=255)
    """Number by which controllers' keepalived know each other (VRRP, `keepalived_virtual_router_id`): no other cloud or
    router in the management network has it. None: Kolla's own, 51."""
    networks: dict[PhysnetName, PhysnetSpec] = Field(min_length=1)
    """Physical networks, by their names."""
    hosts: dict[HostName, RackHostSpec] = Field(min_length=1)
    """Machines, by the names that they have themselves (`hostname -s`)."""
    ssh: SshAccessSpec | None = None
    """Way to the machines over SSH: of the preflight, of Ansible and of verifying. Without it files are rendered, and
    nothing else is done."""
    vault_password_file: AbsolutePath | None = None
    """File with the password of ansible-vault that `passwords.yml` is encrypted with, or a program that prints it.
    None: nothing is encrypted."""
    generator: RackGeneratorSpec | None = None
    """Machine that sends and checks frames; none: nothing is measured here."""

    @property
    def exchanges(self) -> Mapping[str, str]:
        """The twins' variants, where the file has runs exchange them."""
        return {} if self.swap == "never" else self.exchanged().pinned

    def hosts_with(self, role: str) -> dict[str, RackHostSpec]:
        """Return the machines of a role, by name."""
        return {name: host for name, host in self.hosts.items() if role in host.roles}

    def reached(self, name: str) -> RemoteHostSpec | None:
        """Return how a machine is reached over SSH; None: the file does not say."""
        host = self.hosts[name]
        access = host.ssh or self.ssh
        return None if access is None else RemoteHostSpec(address=host.address, **dict(access))

    @property
    def is_box(self) -> bool:
        """Whether nfvbed starts the machines itself, on this machine."""
        return self.machines == "box"

    def in_project(self, root: Path) -> Self:
        """Return the site with the way into machines that nfvbed starts."""
        return self.model_copy(update={"ssh": way_into_box(root, self.name)}) if self.is_box else self

    @model_validator(mode="after")
    def box_is_whole(self) -> Self:
        if not self.is_box:
            if self.images is not None:
                raise MisfitError("images", "it is of machines: box; others pull where docker_registry says")
            if self.images_from is not None:
                raise MisfitError("images_from", "it is of machines: box; others pull where docker_registry says")
            return self
        if self.images_from is not None and self.images != "pull":
            raise MisfitError("images_from", "images are built here, and copied from nowhere: images: pull")
        if self.base_distro != "debian":
            raise MisfitError("base_distro", "the machines of a box are Debian's")
        if self.ssh is not None:
            raise MisfitError("ssh", "the way into a box is made with it: leave ssh out")
        for name, host in self.hosts.items():
            if host.ssh is not None:
                raise MisfitError("hosts", f"{name} has ssh: the way into a box is made with it")
            if any(nic.pci is not None for nic in host.nics):
                raise MisfitError("hosts", f"{name} has a NIC with pci: those of a box have mac, and driver: af_packet")
            if any(node.hugepages_1g for node in host.numa):
                raise MisfitError("hosts", f"{name} has hugepages_1g: machines of a box have hugepages_2m")
        return self

    @model_validator(mode="after")
    def machines_make_a_cloud(self) -> Self:
        if not self.hosts_with("controller"):
            raise MisfitError("hosts", "at least one machine has the role controller")
        if not self.hosts_with("compute"):
            raise MisfitError("hosts", "at least one machine has the role compute")
        addresses = [host.address for host in self.hosts.values()] + [self.virtual_address]
        twice = sorted({address for address in addresses if addresses.count(address) > 1})
        if twice:
            raise MisfitError("hosts", f"{', '.join(twice)} is the address of two, virtual_address among them")
        return self

    @model_validator(mode="after")
    def networks_are_reached(self) -> Self:
        for name, host in self.hosts.items():
            unknown = sorted({nic.network for nic in host.nics if nic.network} - set(self.networks))
            if unknown:
                raise MisfitError("hosts", f"{name} has a NIC on {', '.join(unknown)}, which networks does not name")
        for name, host in self.hosts_with("controller").items():
            if not host.nics_of("external", "dpdk"):
                raise MisfitError(
                    "hosts", f"controller {name} has a NIC of role external or dpdk: DHCP and routers are there"
                )
        return self

    @model_validator(mode="after")
    def pins_are_complete(self) -> Self:
        computes = self.hosts_with("compute")
        if self.computes and set(self.computes) != set(computes):
            raise MisfitError("computes", f"it names all computes, or none is pinned: {', '.join(computes)}")
        return self

    @model_validator(mode="after")
    def generator_has_two_ports(self) -> Self:
        generators = list(self.hosts_with("generator"))
        if self.generator is None:
            if generators:
                raise MisfitError("hosts", f"{generators[0]} has the role generator; the key generator describes it")
            return self
        if generators != [self.generator.host]:
            raise MisfitError("generator", f"{self.generator.host} is the one machine that has the role generator")
        if len(self.hosts[self.generator.host].nics_of("dpdk")) != 2:
            raise MisfitError("hosts", f"{self.generator.host} has two NICs of role dpdk: one for each direction")
        found_by = {nic.pci is not None for nic in self.hosts[self.generator.host].nics_of("dpdk")}
        if len(found_by) != 1:
            raise MisfitError("hosts", f"{self.generator.host} has both NICs of role dpdk by pci, or both by mac")
        if self.generator.engine == "trex" and found_by == {False}:
            raise MisfitError("hosts", f"{self.generator.host} has its NICs of role dpdk by pci: TRex has NICs of DPDK")
        return self


AnySite = Annotated[
    LabSiteSpec | GuestSiteSpec | DevcloudSiteSpec | CloudSiteSpec | KollaSiteSpec,
    Field(discriminator="kind"),
]
"""The kinds of site that there are."""
