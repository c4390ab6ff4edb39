"""VPP on the real host where VPP_BIN names one; elsewhere the variant must say that it is not there. As root.

With a VPP every test here sends real frames through it. Without one there is nothing to send them through, and what is
asserted is that nfvbed says so, with the packages to install: those tests are skipped, and counted.
"""

import os
import signal
import time
from pathlib import Path

import pytest
import yaml

from nfvbed.dataplanes.vpp import binaries
from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import PortKind, Readiness, Role
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.brought_vpp import with_vpp
from tests.functional.declared import PROJECT, variant, vnf
from tests.functional.disturbed import each_is_counted_once, pass_all

FRAMES = 2000
REQUEST = TrafficRequest(duration_ns=1_000_000_000, frame_size=64, rate_pps=10_000, frames=FRAMES, learning_frames=1)
WITHOUT_NICS = [name for name in PROJECT.variant_names if PROJECT.load_variant(name).port_kind is not PortKind.PCI]
VARIANTS = [name for name in WITHOUT_NICS if name.startswith("vpp")]
"""NICs are in guest nodes alone: `node_proofs_cables.py`."""


def open_generator(site, deployment):
    generator = site.open_generator(deployment)
    wait_for_links(generator)
    site.wait_for_generator(deployment)
    generator.run(TrafficRequest(duration_ns=100_000_000, frame_size=64, rate_pps=10_000))
    return generator


@pytest.mark.parametrize("name", VARIANTS)
def test_absent_vpp_is_unsupported_with_the_fix_and_refused(lab, monkeypatch, tmp_path, name):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(binaries.VPP_VARIABLE, raising=False)
    support = lab.probe(PROJECT.load_variant(name))
    assert support.readiness is Readiness.UNSUPPORTED
    assert support.reason == "VPP is not there: not on PATH"
    assert binaries.VPP_VARIABLE in support.fix
    with pytest.raises(PrerequisiteError, match="VPP is not there"):
        lab.deploy(PROJECT.load_variant(name), "p2p")


@with_vpp
@pytest.mark.parametrize("name", VARIANTS)
def test_a_bridge_domain_counts_every_frame_at_every_hop(lab, name):
    deployment = lab.deploy(variant(name, forwarding="bridge-domain"), "p2p")
    generator = open_generator(lab, deployment)
    passage = pass_all(
        generator, REQUEST, lambda: (lab.hops(deployment), lab.counters(deployment)), each_is_counted_once
    )
    lab.verify(deployment)
    (_, first), (after, second) = passage.before, passage.after
    assert [hop.name for hop in after] == ["vpp port p0", "vpp graph", "vpp port p1"]
    assert second.packets - first.packets >= sum(passage.sent)
    assert second.busy_cycles > first.busy_cycles
    assert second.source == "VPP runtime"
    (worker,) = [thread for thread in lab.work_threads(deployment) if thread.role is Role.SWITCH]
    assert worker.core == lab.host_view(deployment).arrangement.switch_cores[0]
    assert os.sched_getaffinity(worker.tid) == {worker.core}
    assert deployment.versions["vpp"][0].isdigit()
    generator.close()
    lab.destroy(deployment)


@with_vpp
@pytest.mark.parametrize("name", VARIANTS)
def test_frames_go_through_two_vnfs(lab_with_vnfs, name):
    site = lab_with_vnfs
    chosen = variant(name)
    forwarding = chosen.native_vnf.forwarding
    deployment = site.deploy(chosen, "pvvp", vnf=vnf(forwarding=forwarding))
    generator = open_generator(site, deployment)
    pass_all(generator, REQUEST)
    site.verify(deployment)
    generator.close()
    site.destroy(deployment)


@with_vpp
@pytest.mark.parametrize(("name", "topology"), [("vpp", "v2v"), ("vpp-memif", "p2v"), ("vpp-memif", "v2p")])
def test_vnfs_at_the_ends_of_a_path_are_waited_for(lab_with_vnfs, name, topology):
    site = lab_with_vnfs
    deployment = site.deploy(variant(name), topology, vnf=vnf())
    generator = site.open_generator(deployment)
    pace = 1_000 if topology == "p2v" else None
    request = TrafficRequest(duration_ns=300_000_000, frame_size=64, rate_pps=pace, bidirectional=False)
    (counts,) = generator.run(request).directions
    assert counts.received > 0
    generator.close()
    site.destroy(deployment)


@with_vpp
def test_interrupted_deployment_leaves_nothing(nfvbed):
    process = nfvbed("trace", "vpp", "--frames", "100000")
    deadline = time.monotonic() + 60
    while not list(Path("/run/nfvbed").glob("*/startup.conf")) and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    # The fixture looks at the host: no process, namespace, hugepage or run directory is there.
    assert not list(Path("/dev/shm").glob("nfvbed-*"))


@with_vpp
def test_shared_flows_are_refused_with_the_reason(lab):
    with pytest.raises(UnsupportedError, match="shares no flows out"):
        lab.deploy(variant("vpp"), "pvpv", vnf=vnf())


def test_manifest_says_that_the_user_brings_it():
    manifest = yaml.safe_load((PROJECT.root / "tests/support.yml").read_text())["variants"]
    assert {manifest[name]["brought_by"] for name in VARIANTS} == {binaries.VPP_VARIABLE}
