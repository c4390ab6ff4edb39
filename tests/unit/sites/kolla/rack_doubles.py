"""A deployed rack of doubles: what is asked of Tacker, Nova, Neutron and the generator's machine is answered here.

Sites, records, plans and runs are the product's own.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace

import yaml

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.fitness import Fitness
from nfvbed.host.qemu.images import Image
from nfvbed.records import Accelerator, GeneratorPort, PortKind
from nfvbed.sites.kolla import site as rack_site
from nfvbed.sites.kolla import verified
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured.cloud import RackCloud, RackCompute
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.openstack import images, setting_up, tackervnfs
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.traffic.simulated.generator import SimulatedGenerator
from nfvbed.traffic.simulated.options import SimulatedOptions
from nfvbed.traffic.simulated.system import SimulatedPath, SimulatedSystem
from nfvbed.traffic.simulated.world import HiddenState, VirtualClock

ROOT = open_project().root
PORTS = tuple(GeneratorPort(kind=PortKind.PCI, engine="dpdk", spec=f"pci:0000:3b:00.{number}") for number in range(2))


@dataclass
class FakeRack:
    """What the doubles have been asked for, and what they have."""

    onboarded: dict[str, TackerVnf] = field(default_factory=dict)
    """VNFs in Tacker, by id."""
    requests: list = field(default_factory=list)
    removed: list = field(default_factory=list)

    def onboard(self, request, tell):
        """Make a VNF of one instance, on the first compute."""
        self.requests.append(request)
        number = len(self.requests)
        ports = tuple(
            InstancePort(f"port-{number}-{place}", network, f"fa:16:3e:00:{number:02x}:{place:02x}")
            for place, (_, network) in enumerate(request.networks)
        )
        placed = PlacedInstance(f"i-{number}", request.name, "compute1", ports)
        vnf = TackerVnf("sol", f"v-{number}", "p-1", request.name, request.owner, "s-1", (placed,), (("create", 5),))
        self.onboarded[vnf.id] = vnf
        return vnf

    def found(self, owner):
        """Return an owner's VNFs."""
        return tuple(one for one in self.onboarded.values() if one.owner == owner)

    def heal(self, vnf, request, tell):
        """Give a VNF another instance."""
        del self.onboarded[vnf.id]
        return self.onboard(request, tell)

    def remove(self, connection, kept, owner, tell):
        """Remove an owner's VNFs."""
        self.removed += [one.name for one in self.onboarded.values() if one.owner == owner]
        self.onboarded = {name: one for name, one in self.onboarded.items() if one.owner != owner}
        return ()

    def server(self, identifier):
        """Return Nova's server; None where Tacker has removed it."""
        there = {one.id: one.host for vnf in self.onboarded.values() for one in vnf.instances}
        if identifier not in there:
            return None
        return SimpleNamespace(status="ACTIVE", compute_host=there[identifier], hypervisor_hostname=None)


def make_root(root, name="mine", variant="ovs-dpdk", pins=None):
    """Write a project with a rack of this name on which a variant is deployed."""
    for folder in ("deploy/variants", "vnfd", "flavors", "kolla", "vsperf-conf", "tosca"):
        (root / folder).parent.mkdir(exist_ok=True)
        (root / folder).symlink_to(ROOT / folder)
    (root / "deploy" / "sites").mkdir()
    file = yaml.safe_load((ROOT / "deploy/sites/rack.yml").read_text())
    file |= {"name": name, "generator": {**file["generator"], "nfvgen": "/opt/nfvgen", "core": 3}}
    if pins:
        file["computes"] = {host: {"variant": one} for host, one in pins.items()}
    (root / "deploy/sites" / f"{name}.yml").write_text(yaml.safe_dump(file))
    places = RackPlaces.of(root, name)
    places.make()
    found = Journal(variant=variant, release=NEWEST, digest="d", pins=pins or {}).noted("deploy", "done")
    journal.write(places, found)
    write_private(places.clouds, "clouds: {}\n")


def install(monkeypatch, root):
    """Put the doubles into place; return them."""
    rack, image = FakeRack(), Image(root / "vloop.qcow2", "qcow2", "", None)
    image.path.write_bytes(b"no image")
    compute = SimpleNamespace(find_server=rack.server)
    api = SimpleNamespace(onboard=rack.onboard, found=rack.found, heal=rack.heal)

    def nothing(*_, **__):
        return None

    for owner, name, double in (
        (RackCloud, "connection", SimpleNamespace(compute=compute)),
        (RackCloud, "bring_up", nothing),
        (RackCloud, "require_room", nothing),
        (RackCloud, "inherits_port_security", False),
        (RackCloud, "witnessed", lambda self, handles: handles),
        (RackCloud, "accelerator", Accelerator.KVM),
        (RackCloud, "engine", lambda self, kind, built_here: {"engine": "nfvgen-dpdk", "version": "0"}),
        (RackCloud, "described", lambda self, handles: {}),
        (RackCompute, "probe", lambda self, variant: Fitness()),
        (RackCompute, "verify", nothing),
        (RackCompute, "hops", lambda self, instances: ()),
        (RackCompute, "attach", lambda self, workspace, variant: PORTS),
        (RackCompute, "start_generator", lambda self, deployment, starter: generator(deployment)),
        (LabMachine, "begin", lambda self, **_: []),
        (LabMachine, "close", nothing),
        (LabMachine, "make_room", nothing),
        (LabMachine, "starter", nothing),
        (LabMachine, "generator_version", lambda self: "0"),
        (setting_up, "Workspace", SimpleNamespace(create=lambda: SimpleNamespace(close=nothing))),
        (tackervnfs.TackerVnfs, "_api", api),
        (tackervnfs.TackerVnfs, "_image_file", lambda self, choice: image),
        (tackervnfs.left, "remove", rack.remove),
        (images, "keep", lambda connection, kept, vnf, file, has_agent: images.name_of(vnf, file)),
        (rack_site, "verify_rack", lambda order, connection: ()),
        (verified, "verify_rack", lambda order, connection: ()),
    ):
        monkeypatch.setattr(owner, name, double)
    return rack


def generator(deployment):
    """Return a generator whose frames go through a simulated system: one with an answer that is known."""
    options = SimulatedOptions(dataplane="simulated", capacity_pps=1_000_000)
    state = HiddenState(VirtualClock(), 0, deployment.id)
    path = SimulatedPath.of(deployment.topology)
    return SimulatedGenerator(PORTS, SimulatedSystem(options, deployment.role, state, deployment.id, path))
