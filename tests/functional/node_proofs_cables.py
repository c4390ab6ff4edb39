"""The proofs of ports on NICs, on four emulated ones of a guest node that are cabled in pairs.

Run by `node_proofs.py` on the site `guest-node-cables`; VPP's with VPP_BIN naming one that has the DPDK plug-in. DPDK
drives the NICs over vfio and the guest's IOMMU as it drives real ones; NICs and cables are emulated: frames count,
rates do not.
"""

import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from pyroute2 import IPRoute

from nfvbed.errors import UnsupportedError
from nfvbed.host.network.rebind import read_override
from nfvbed.host.nics import inventory
from nfvbed.records import PortKind, QualityWarning, Readiness
from nfvbed.records.readings import Part
from nfvbed.sites.guest_node.devices import CABLED_NICS
from nfvbed.spec.choices import resolve
from nfvbed.spec.vnf import VnfUse
from tests.functional.disturbed import send_enough

FRAMES = 40
SIZES = (64, 1518)
HOLD = """
import sys, time
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.identity import this_node
from nfvbed.sites.catalogue import open_site
project = open_project()
site = open_site(project.load_site(this_node().site), project.root)
site.deploy(project.load_variant(sys.argv[1]), "p2p")
print("deployed", flush=True)
time.sleep(600)
"""


def nics():
    """The NICs as the kernel has them: drivers, overrides, network devices."""
    found = {address: inventory.read(address).model_dump() for address in CABLED_NICS}
    for address, reported in found.items():
        reported["override"] = read_override(address)
    return found


def frames_pass(site, send, name, topology="p2p", use=None):
    """Deploy, send frames of two sizes both ways, count each at every hop; the NICs are the kernel's again then."""
    variant = send.project.load_variant(name)
    before = nics()
    assert {reported["driver"] for reported in before.values()} == {"igb"}, before
    support = site.probe(variant)
    assert support.readiness is not Readiness.UNSUPPORTED, support.reason
    choice = None if topology == "p2p" else resolve(use or variant.native_vnf, variant, send.project)
    deployment = site.deploy(variant, topology, vnf=choice)
    try:
        assert {reported["driver"] for reported in nics().values()} == {"vfio-pci"}
        assert {port.kind for port in deployment.ports} == {PortKind.PCI}
        assert QualityWarning.EMULATED_ACCELERATOR in site.warnings(
            deployment, site.look(deployment, Part.THREADS).threads
        )
        generator = site.open_generator(deployment)
        try:
            counted = {size: _count(site, deployment, generator, send.request, size) for size in SIZES}
            drivers = [port["driver"] for port in generator.hello().raw["ports"]]
        finally:
            generator.close()
        site.verify(deployment)
        reported = {"counted": counted, "generator": drivers, "rig": site.rig(deployment)["cables"]}
        reported |= {"versions": deployment.versions, "steps": deployment.steps}
        reported |= {"vnf_ports": [port.kind for ports in deployment.vnf_ports for port in ports]}
    finally:
        site.destroy(deployment)
    assert nics() == before, (nics(), before)
    return reported


def _count(site, deployment, generator, request, size=64):
    """Every frame arrives, and every port of the switch has counted it.

    A first trial is not counted: in it Open vSwitch makes its flows, which an emulated core may do for longer than the
    generator waits for late frames.
    """
    request = replace(request, frame_size=size)
    generator.run(request)
    first = site.look(deployment, Part.HOPS).hops
    results = send_enough(generator, request, FRAMES)
    last = site.look(deployment, Part.HOPS).hops
    sent = [sum(result.directions[number].sent for result in results) for number in (0, 1)]
    hops = {
        new.name: (new.rx_packets - old.rx_packets, new.tx_packets - old.tx_packets)
        for old, new in zip(first, last, strict=True)
        if new.rx_packets is not None
    }
    drops = {new.name: new.drops for new in last if any(new.drops.values())}
    received = [sum(r.directions[number].received for r in results) for number in (0, 1)]
    assert received == sent, (sent, received, hops, drops, [result.foreign for result in results])
    through = [name for name in hops if " port " in name]
    assert through, hops
    assert all(min(hops[name]) >= min(sent) for name in through), (sent, hops)
    return {"sent": sent, "hops": hops}


def a_port_in_use_is_refused(site, send):
    """An address on one of the four ports: the variant is unsupported, a deployment refused, and nothing is unbound."""
    variant = send.project.load_variant("ovs-dpdk-pci")
    before = nics()
    name = before[CABLED_NICS[0]]["ports"][0]["name"]
    with IPRoute() as route:
        index = route.link_lookup(ifname=name)[0]
        route.addr("add", index=index, address="192.0.2.1", prefixlen=24)
        try:
            support = site.probe(variant)
            with pytest.raises(UnsupportedError, match="in use by this host"):
                site.deploy(variant, "p2p")
        finally:
            route.addr("del", index=index, address="192.0.2.1", prefixlen=24)
    assert support.readiness is Readiness.UNSUPPORTED
    assert "192.0.2.1" in support.reason
    assert nics() == before
    return {"reason": support.reason, "fix": support.fix}


def a_kill_gives_the_nics_back(site, send):
    """nfvbed is killed while a switch has the NICs, one of them up: the next nfvbed gives all back as they were."""
    before = nics()
    name = before[CABLED_NICS[0]]["ports"][0]["name"]
    with IPRoute() as route:
        route.link("set", index=route.link_lookup(ifname=name)[0], state="up")
    site.close()
    argv = [sys.executable, "-c", HOLD, "ovs-dpdk-pci"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "deployed\n"
        taken = nics()
        process.send_signal(signal.SIGKILL)
    assert {reported["driver"] for reported in taken.values()} == {"vfio-pci"}, taken
    reaped = site._planes.machine.begin()
    assert nics() == before, (nics(), before)
    with IPRoute() as route:
        index = route.link_lookup(ifname=name)[0]
        flags = next(iter(route.get_links(index)))["flags"]
        assert flags & 1, "the port was up, and is down"
        route.link("set", index=index, state="down")
    return {"reaped": len(reaped), "drivers": {address: reported["driver"] for address, reported in taken.items()}}


def reset_and_pass(site, send, name):
    """The switch is killed and comes back on the same NICs, beneath a generator that lives on."""
    deployment = site.deploy(send.project.load_variant(name), "p2p")
    try:
        generator = site.open_generator(deployment)
        try:
            first = _count(site, deployment, generator, send.request)
            report = site.reset(deployment, 0.1)
            last = _count(site, deployment, generator, send.request)
        finally:
            generator.close()
        site.verify(deployment)
    finally:
        site.destroy(deployment)
    return {"first": first, "last": last, "kind": report.kind, "steps": report.steps}


def _through(name, topology="p2p", **use):
    """Make the proof that frames pass."""
    chosen = VnfUse(vnf="vloop", **use) if use else None
    return lambda site, send: frames_pass(site, send, name, topology, chosen)


PROOFS = {
    "ovs-p2p": _through("ovs-dpdk-pci"),
    "ovs-pvp": _through("ovs-dpdk-pci", "pvp"),
    "ovs-pvvp": _through("ovs-dpdk-pci", "pvvp"),
    "ovs-in-use": a_port_in_use_is_refused,
    "ovs-kill": a_kill_gives_the_nics_back,
    "ovs-reset": partial(reset_and_pass, name="ovs-dpdk-pci"),
    "vpp-p2p": _through("vpp-pci"),
    "vpp-pvp": _through("vpp-pci", "pvp"),
    "vpp-reset": partial(reset_and_pass, name="vpp-pci"),
}


def run(name, send, site):
    """Run one of `PROOFS`."""
    return PROOFS[name](site, send)
