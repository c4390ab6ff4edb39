"""Data plane and VNFs as one: what is started, believed, composed, and taken down."""

import pytest

from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError, VnfDiedError
from nfvbed.records import CellRole, Role, VnfKind
from nfvbed.records.readings import Part
from nfvbed.sites.lab import vnfs
from nfvbed.sites.lab.site import LabSite
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.vnf import ReadinessSpec, VnfChoice, VnfPortSpec, VnfSpec
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.vnfs import onboarded, peers
from tests.unit.sites.lab.fake_vnfs import ROOT, FakeDriver, FakePlanes

REQUEST = TrafficRequest(duration_ns=1_000_000, frame_size=64)


def choice(timeout_s=0.05, **keys):
    spec = VnfSpec(
        name="vloop",
        title="x",
        kinds=(VnfKind.PROCESS,),
        ports=(VnfPortSpec(name="in", role="in"), VnfPortSpec(name="out", role="out")),
        forwarding=("io",),
        readiness=ReadinessSpec(timeout_s=timeout_s),
    )
    given = {"label": "process-io", "kind": VnfKind.PROCESS, "forwarding": "io"} | keys
    return VnfChoice(vnf=spec, flavor=Flavor(name="default", title="x"), **given)


@pytest.fixture
def lab(tmp_path):
    return FakePlanes(directory=str(tmp_path))


@pytest.fixture
def bench(lab, monkeypatch):
    """A site whose drivers can be asked to fail."""
    drivers = {}

    def driver(kind, does):
        return drivers.setdefault(does, FakeDriver(lab.log))

    monkeypatch.setattr(vnfs, "driver", driver)
    monkeypatch.setattr(peers, "driver", driver)
    site = LabSite(lab, ROOT)
    site.drivers = drivers
    return site


def deploy(site, topology="pvp", **keys):
    return site.deploy(None, topology, vnf=choice(**keys))


def kinds(lab):
    """Return what was done, without whom it was done to."""
    return [entry[0] for entry in lab.log]


def test_peers_of_a_switch_that_connects_start_before_it_and_run_before_it_has_ports(bench, lab):
    lab.is_client = True
    deployment = deploy(bench, "pvvp")
    begun = ["deploy", "start", "start", "generator", "switch", "ready", "ready", "ports", "run"]
    assert kinds(lab) == begun
    bench.open_generator(deployment)
    assert kinds(lab) == begun
    assert {"onboard.ready", "onboard.first-frame", "vnf1.start"} <= dict(deployment.steps).keys()


def test_generator_that_came_up_with_a_switch_is_used(bench, lab):
    lab.is_client = True
    deployment = bench.deploy(None, "p2p")
    generator = bench.open_generator(deployment)
    assert kinds(lab) == ["deploy", "generator", "switch", "ports"]
    generator.close()
    bench.open_generator(deployment)
    assert kinds(lab) == ["deploy", "generator", "switch", "ports", "close", "generator"]


def test_generator_that_nobody_used_ends_with_the_deployment(bench, lab):
    lab.is_client = True
    bench.destroy(bench.deploy(None, "p2p"))
    assert kinds(lab)[-2:] == ["close", "destroy"]


def test_ceilings_start_their_generator_when_it_is_opened(bench, lab):
    lab.is_client = True
    bench.deploy(None, "pvp", CellRole.LOOPBACK, vnf=choice())
    assert kinds(lab) == ["deploy"]


def test_generator_starts_beside_vnfs_on_ports_that_are_there(bench, lab):
    deploy(bench)
    assert kinds(lab) == ["deploy", "start", "generator", "ready", "run"]


@pytest.mark.parametrize("topology", ["p2v", "v2p", "v2v"])
def test_vnfs_that_send_are_not_started_before_the_switch(bench, lab, topology):
    lab.is_client = True
    deploy(bench, topology)
    assert kinds(lab)[:2] == ["deploy", "start"]
    assert "switch" not in kinds(lab)


def test_generator_of_a_deployment_that_failed_is_let_go(bench, lab):
    lab.is_client = True
    bench.drivers["io"] = FakeDriver(lab.log, fails_at="ready")
    with pytest.raises(OnboardError):
        deploy(bench)
    assert kinds(lab)[-1] == "close"


def test_topology_without_vnfs_is_the_labs(bench, lab):
    deployment = bench.deploy(None, "p2p", vnf=choice())
    assert deployment.vnfs == ()
    assert bench.rig(deployment)["vnf"] is None
    assert lab.log == [("deploy", "p2p", CellRole.SUBJECT, None)]


def test_ceilings_of_the_ports_have_no_vnfs(bench):
    assert bench.deploy(None, "pvp", CellRole.LOOPBACK, vnf=choice()).vnfs == ()


def test_every_vnf_of_a_chain_is_started_and_probed_before_it_is_believed(bench, lab):
    deployment = deploy(bench, "pv3p")
    assert [handle.name for handle in deployment.vnfs] == ["vnf1", "vnf2", "vnf3"]
    started = [entry for entry in lab.log if entry[0] == "start"]
    assert all(entry[3:] == ((1,), True) for entry in started)
    assert ("run", 128, 2) in lab.log
    assert "onboard.first-frame" in dict(deployment.steps)
    assert "vnf2.start" in dict(deployment.steps)


def test_generator_that_probed_is_used_on(bench, lab):
    deployment = deploy(bench)
    bench.open_generator(deployment)
    assert lab.log.count(("generator",)) == 1
    bench.open_generator(deployment)
    assert lab.log.count(("generator",)) == 2


def test_vnf_through_which_nothing_comes_is_not_believed(bench, lab):
    lab.returns = False
    with pytest.raises(OnboardError, match="no frame comes through") as failure:
        deploy(bench)
    assert "vnf1 port 0: rx 0 tx 0" in failure.value.observed
    assert lab.log[-1] == ("destroy",)
    assert ("close",) in lab.log


@pytest.mark.parametrize("step", ["start", "ready"])
def test_nothing_is_deployed_after_a_vnf_that_fails(bench, lab, step):
    bench.drivers["io"] = FakeDriver(lab.log, fails_at=step)
    with pytest.raises(OnboardError):
        deploy(bench)
    assert lab.log[-1] == ("destroy",)


def test_vnf_that_cannot_run_here_deploys_nothing(bench, lab):
    bench.drivers["io"] = FakeDriver(lab.log, reason="no testpmd")
    with pytest.raises(UnsupportedError, match="cannot run here") as failure:
        deploy(bench)
    assert failure.value.observed == "no testpmd"
    assert lab.log == []


def test_vnf_whose_image_is_not_there_deploys_nothing(bench, lab):
    lacks = PrerequisiteError("its image is not there", where="images/x.qcow2", fix="make images")
    bench.drivers["io"] = FakeDriver(lab.log, lacks=lacks)
    for command in (bench.deploy, bench.deploy_to_stay):
        with pytest.raises(PrerequisiteError, match="image"):
            command(None, "pvp", vnf=choice())
    assert lab.log == []
    assert bench.missing("pvp", choice()) == (
        "the VNF cannot run here: vloop (process-io): its image is not there (images/x.qcow2; make images)"
    )


def test_nothing_is_missing_where_files_are_there_or_are_reported_later(bench, lab):
    assert bench.missing("pvp", choice()) == ""
    bench.drivers["io"] = FakeDriver(lab.log, lacks=OnboardError("its image was changed"))
    assert bench.missing("pvp", choice()) == ""
    with pytest.raises(OnboardError, match="was changed"):
        deploy(bench)
    assert lab.log == []


def test_dead_vnf_is_found(bench, lab):
    deployment = deploy(bench)
    bench.verify(deployment)
    bench.drivers["io"].fails_at = "verify"
    with pytest.raises(VnfDiedError):
        bench.verify(deployment)


def test_hops_and_threads_are_those_of_the_whole_path(bench):
    deployment = deploy(bench)
    seen = bench.look(deployment, Part.HOPS, Part.THREADS)
    names = [hop.name for hop in seen.hops]
    assert names == ["g0", "s0", "v1a", "vnf1 port 0", "vnf1 port 1", "v1b", "s1", "g1"]
    assert [thread.role for thread in seen.threads] == [Role.SWITCH, Role.VNF]


def test_rig_tells_vnfs_apart(bench):
    first = bench.rig(deploy(bench))
    second = bench.rig(bench.deploy(None, "pvp", vnf=choice(offloads=False)))
    assert first["vnf"]["digest"] != second["vnf"]["digest"]
    assert first["flavor"] == "default"


def test_vnfs_end_before_their_data_plane(bench, lab):
    deployment = deploy(bench, "pvvp")
    bench.destroy(deployment)
    assert lab.log[-3:] == [("stop", "vnf1"), ("stop", "vnf2"), ("destroy",)]


def test_sink_counts_what_the_generator_sent(bench, lab, monkeypatch):
    deployment = deploy(bench, "p2v")
    assert deployment.vnfs[0].forwarding == "sink"
    counts = iter([10, 910])
    sink = bench.drivers["sink"]
    monkeypatch.setattr(sink, "hops", lambda handle: (_hop(rx=next(counts)),))
    result = bench.open_generator(deployment).run(REQUEST)
    assert [(d.sent, d.received, d.lost) for d in result.directions] == [(1000, 900, 100)]


def test_source_is_restarted_for_another_frame_size(bench, lab, monkeypatch):
    deployment = deploy(bench, "v2v")
    assert [handle.forwarding for handle in deployment.vnfs] == ["source", "sink"]
    traffic = bench.open_generator(deployment)
    reading = iter(range(0, 10_000, 100))
    for driver in bench.drivers.values():
        monkeypatch.setattr(driver, "hops", lambda handle: (_hop(rx=next(reading), tx=next(reading)),))
    traffic.run(REQUEST)
    assert not [entry for entry in lab.log if entry[0] == "stop"]
    result = traffic.run(TrafficRequest(duration_ns=1_000_000, frame_size=1518))
    assert ("stop", "vnf1") in lab.log
    assert result.directions[0].received > 0


def test_what_is_deployed_is_taken_over_however_it_was_asked_for(bench, lab):
    first = deploy(bench)
    onboarded.save(first, onboarded.OnboardedVnfs(choice=choice(label="native", native=True), handles=first.vnfs))
    again = deploy(bench)
    assert again.vnfs == first.vnfs
    assert len([entry for entry in lab.log if entry[0] == "start"]) == 1
    with pytest.raises(OnboardError, match="another VNF is running"):
        deploy(bench, offloads=False)


def _hop(rx=0, tx=0):
    from nfvbed.records import Hop

    return Hop(name="port", rx_packets=rx, tx_packets=tx)
