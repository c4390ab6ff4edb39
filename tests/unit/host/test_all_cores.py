"""Nothing assumes two cores: the rig has all of them, and distances are measured between all that share the work."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.cores import coredistance
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.coredistance import Distance, pairs_of
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.records import Deployment, GeneratorPort, PortKind, Role, VnfHandle, VnfKind, WorkThread
from nfvbed.records.readings import Part
from nfvbed.sites.hostview import HostView
from nfvbed.sites.lab import machine, planes
from nfvbed.sites.lab import site as lab
from nfvbed.store.canonical import content_hash

PROJECT = open_project()
EIGHT = CpuTopology(allowed=tuple(range(8)), nodes=(tuple(range(8)),), siblings=tuple((core,) for core in range(8)))
PORT = GeneratorPort(engine="dpdk", spec="p", kind=PortKind.VHOST_USER)


def vnf(*cores, threads=()):
    return VnfHandle(name="vnf1", kind=VnfKind.PROCESS, forwarding="io", ports=(), cores=cores, threads=threads)


def arrangement(*switch, generator=7):
    return Arrangement(switch_cores=switch, generator_core=generator, control_cores=(6,))


class Plane:
    """A data plane that is set up at once."""

    def deploy(self, request):
        return Deployment(id="1", variant=request.variant.name, site="lab", topology="p2p", ports=(PORT, PORT))


class Nowhere:
    """A workspace without a place."""

    id = "1"
    directory = None
    short_of_hugepages = False


class Starter:
    """What is known of the process that would start a generator."""

    def __init__(self, workspace, arrangement, *more):
        self.workspace, self.arrangement = workspace, arrangement


@pytest.fixture(name="site")
def _site(monkeypatch):
    here = machine.LabMachine(PROJECT.load_site("lab"), PROJECT.root)
    here.topology = EIGHT
    monkeypatch.setattr(here, "begin", lambda: [])
    monkeypatch.setattr(here, "generator_version", lambda: "1")
    monkeypatch.setattr(planes, "find_remembered", lambda: None)
    monkeypatch.setattr(machine.CATALOGUE, "data_plane", lambda variant, role, vnf: Plane())
    monkeypatch.setattr(planes.Workspace, "create", lambda persistent: Nowhere())
    monkeypatch.setattr(machine.os, "sched_setaffinity", lambda pid, cores: None)
    monkeypatch.setattr(machine, "GeneratorStarter", Starter)
    return lab.LabSite(planes.LabPlanes(here), PROJECT.root)


def rig_of(site, cores):
    variant = PROJECT.load_variant("ovs-dpdk")
    variant = variant.model_copy(update={"options": variant.options.model_copy(update={"pmd_cores": cores})})
    deployment = site._planes.deploy(variant, "p2p")
    rig = site.rig(deployment)
    site._planes._live.clear()
    return rig


def test_rigs_of_one_and_of_four_cores_differ(site):
    one, four = rig_of(site, 1), rig_of(site, 4)
    assert len(one["arrangement"]["switch_cores"]) == 1
    assert len(four["arrangement"]["switch_cores"]) == 4
    assert content_hash(one) != content_hash(four)
    assert content_hash(one) == content_hash(rig_of(site, 1))


def test_one_switch_core_and_one_other_are_one_pair():
    assert pairs_of(arrangement(0, generator=1)) == ((0, 1),)
    assert pairs_of(arrangement(0, generator=1), [vnf(1), vnf(1)]) == ((0, 1),), "VNFs on the generator's core"


def test_each_switch_core_with_each_other_core_that_works():
    assert pairs_of(arrangement(0, 1), [vnf(2), vnf(3)]) == ((0, 7), (0, 2), (0, 3), (1, 7), (1, 2), (1, 3))


def test_pinned_vcpus_are_the_cores_of_a_guest():
    main = WorkThread(role=Role.VNF, pid=9, tid=9, core=6, name="qemu")
    vcpus = [WorkThread(role=Role.VNF, pid=9, tid=10 + core, core=core, name="CPU/KVM") for core in (3, 4)]
    assert pairs_of(arrangement(0), [vnf(2, threads=(main, *vcpus))]) == ((0, 7), (0, 3), (0, 4))


def test_a_vnf_on_the_switchs_core_has_no_distance_to_it():
    assert pairs_of(arrangement(0, 1), [vnf(1)]) == ((0, 7), (0, 1), (1, 7))


def test_each_pair_is_measured_and_the_greatest_is_the_deployments(site, monkeypatch):
    monkeypatch.setattr(
        coredistance, "measure", lambda cores, root: Distance(one_way_ns=10.0 * (1 + sum(cores)), tsc_hz=1)
    )
    deployment = Deployment(id="1", variant="v", site="lab", topology="p2p", ports=(PORT, PORT), vnfs=(vnf(2),))
    monkeypatch.setattr(site._planes, "host_view", lambda deployment: HostView(None, arrangement(0, 1)))
    seen = site.look(deployment, Part.DISTANCES)
    assert seen.distances_ns == {(0, 7): 80.0, (0, 2): 30.0, (1, 7): 90.0, (1, 2): 40.0}
    assert seen.core_distance_ns == 90.0
