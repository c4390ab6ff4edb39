"""What is proven inside a guest node: `node_proofs.py NAME...` runs there, each proof on the node's own site.

Prints one JSON line a proof: `{"proof", "ok", ...}`. To add one: a function that takes the site and gives a dictionary,
in `PROOFS`; it asserts what must hold. `make test-node` makes them all (`node_groups.py` says on which site each).
"""

import json
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError
from nfvbed.host.identity import this_node
from nfvbed.host.preparation.preparing import prepared
from nfvbed.host.preparation.topics import own_group, plan_topics
from nfvbed.host.probes.host import Host
from nfvbed.records import QualityWarning, Readiness
from nfvbed.records.preparation import Plan
from nfvbed.records.readings import Part
from nfvbed.sites.catalogue import open_site
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.loader import Project
from nfvbed.spec.vnf import VnfUse
from nfvbed.traffic.generator import TrafficRequest
from tests.functional import node_proofs_cables as cables
from tests.functional import node_proofs_sriov as sriov
from tests.functional.disturbed import retried, send_enough

FRAMES = 100
ATTEMPTS = 20
REQUEST = TrafficRequest(duration_ns=20_000_000_000, frame_size=64, rate_pps=200, frames=FRAMES, learning_frames=3)
PROJECT = open_project()


def frames_pass(site, variant_name, topology, use=None):
    """Deploy, send frames both ways, and count every one of them, in the generator and hop by hop."""
    variant = PROJECT.load_variant(variant_name)
    support = site.probe(variant)
    assert support.readiness is not Readiness.UNSUPPORTED, support.reason
    choice = None if topology == "p2p" else resolve(use or variant.native_vnf, variant, PROJECT)
    deployment = site.deploy(variant, topology, vnf=choice)
    try:
        assert QualityWarning.EMULATED_ACCELERATOR in site.warnings(
            deployment, site.look(deployment, Part.THREADS).threads
        )
        assert site.rig(deployment)["node"]["site"] == this_node().site
        generator = site.open_generator(deployment)
        request = replace(REQUEST, flows=layout(topology).ways)
        try:
            (before, first), results, (after, last) = retried(
                lambda: (
                    look(site, deployment),
                    send_enough(generator, request, FRAMES, most=ATTEMPTS),
                    look(site, deployment),
                ),
                lambda found: all(map(all_arrived, found[1])),
            )
        finally:
            generator.close()
        site.verify(deployment)
        sent = [sum(result.directions[number].sent for result in results) for number in (0, 1)]
        assert [sum(r.directions[number].received for r in results) for number in (0, 1)] == sent, results
        risen = {
            new.name: (_minus(new.rx_packets, old.rx_packets), _minus(new.tx_packets, old.tx_packets))
            for old, new in zip(before, after, strict=True)
        }
        assert last.packets - first.packets >= sum(sent), (first, last)
        raw = {"first": first.raw.get("datapath"), "last": last.raw.get("datapath")}
        return {
            "sent": sent,
            "hops": risen,
            "datapath": raw,
            "versions": deployment.versions,
            "vhost_net": [handle.facts.get("vhost") for handle in deployment.vnfs],
        }
    finally:
        site.destroy(deployment)


def look(site, deployment):
    """The counters of every hop, and the switch's own."""
    return site.look(deployment, Part.HOPS).hops, site.look(deployment, Part.COUNTERS).counters


def all_arrived(result):
    """Whether what was sent came; an emulated generator may send nothing in one direction of a trial."""
    return all(direction.received == direction.sent for direction in result.directions)


@dataclass(frozen=True)
class Send:
    """What proofs of other modules need of this one."""

    project: Project = PROJECT
    request: TrafficRequest = REQUEST


def _minus(now, then):
    return None if now is None else now - (then or 0)


def kernel_datapath(site, variant_name):
    """Port to port through the kernel's datapath: it, and not ovs-vswitchd, has moved the frames."""
    found = frames_pass(site, variant_name, "p2p")
    hits = found["datapath"]["last"]["hit"] - found["datapath"]["first"]["hit"]
    misses = found["datapath"]["last"]["missed"] - found["datapath"]["first"]["missed"]
    assert hits + misses >= sum(found["sent"]), found
    assert misses < sum(found["sent"]) // 4, found
    return found


def through_a_guest(site, variant_name):
    """Through a virtual machine of the node, whose frames vhost-net moves: no QEMU touches them."""
    found = frames_pass(site, variant_name, "pvp", VnfUse(vnf="vloop", kind="vm", forwarding="io"))
    assert found["vhost_net"] == [True], found
    return found


CGROUPS = Path("/sys/fs/cgroup")


def cores_of(pid):
    """Return where a process may run, as the kernel writes it."""
    return Path(f"/proc/{pid}/status").read_text().partition("Cpus_allowed_list:")[2].split()[0]


def other_processes_keep_off(_):
    """Prepared, others keep off the core that measures and this process does not; afterwards all is as it was."""
    host, controllers = Host(), (CGROUPS / "cgroup.subtree_control").read_text()
    group = CGROUPS / "others.slice"
    group.mkdir()
    with subprocess.Popen(["sleep", "1000"]) as other:
        try:
            (group / "cgroup.procs").write_text(str(other.pid))
            before = own_group(host, str(CGROUPS)), cores_of("self"), cores_of(other.pid)
            with prepared(plan_topics(host, (0, 1), (1,)), host) as topics:
                found = {topic.topic: topic.plan for topic in topics}
                assert found["other processes"] is Plan.SET, topics
                assert found["unbound workqueues"] is Plan.SET, topics
                meanwhile = own_group(host, str(CGROUPS)), cores_of("self"), cores_of(other.pid)
            after = own_group(host, str(CGROUPS)), cores_of("self"), cores_of(other.pid)
        finally:
            other.kill()
            other.wait()
            group.rmdir()
    assert before[1:] == ("0-1", "0-1"), before
    assert meanwhile == (str(CGROUPS / "nfvbed-prepared"), "0-1", "0"), meanwhile
    assert after == before
    assert (CGROUPS / "cgroup.subtree_control").read_text() == controllers
    return {topic.topic: f"{topic.plan}: {topic.summary}" for topic in topics}


PROOFS = {
    "prepared": other_processes_keep_off,
    "ovs-kernel-p2p": lambda site: kernel_datapath(site, "ovs-kernel"),
    "ovs-kernel-pvp": lambda site: frames_pass(site, "ovs-kernel", "pvp"),
    "ovs-kernel-pvpv": lambda site: frames_pass(site, "ovs-kernel", "pvpv"),
    "ovs-kernel-pvvp": lambda site: frames_pass(site, "ovs-kernel", "pvvp"),
    "ovs-kernel-vm": lambda site: through_a_guest(site, "ovs-kernel"),
    "ovn-kernel-p2p": lambda site: kernel_datapath(site, "ovn-kernel"),
    "ovn-kernel-pvp": lambda site: frames_pass(site, "ovn-kernel", "pvp"),
    "linux-bridge-p2p": lambda site: frames_pass(site, "linux-bridge", "p2p"),
    **{f"sriov-{name}": partial(sriov.run, name, Send()) for name in sriov.PROOFS},
    **{f"cables-{name}": partial(cables.run, name, Send()) for name in cables.PROOFS},
    "linux-bridge-vhost-net": lambda site: through_a_guest(site, "linux-bridge-vhost-net"),
}


def main(names):
    """Run them, one after the other; one that fails does not keep the others from being run."""
    node = this_node()
    assert node is not None, "this is no guest node"
    site = open_site(PROJECT.load_site(node.site), PROJECT.root)
    failed = 0
    site.begin()
    try:
        for name in names:
            started = time.monotonic()
            try:
                reported = {"ok": True, **PROOFS[name](site)}
            except (NfvbedError, AssertionError, OSError, KeyError):
                reported, failed = {"ok": False, "failure": traceback.format_exc()}, failed + 1
            print(json.dumps({"proof": name, "seconds": round(time.monotonic() - started, 1), **reported}), flush=True)
    finally:
        site.close()
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(PROOFS)))
