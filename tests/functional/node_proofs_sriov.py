"""The proofs of `sriov` on the emulated NIC of a guest node; see `node_proofs.py`.

Its functions are real to the kernel that drives them. What it forwards is emulated: frames count, rates do not.
"""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed.dataplanes.sriov.functions import FunctionState
from nfvbed.dataplanes.sriov.settings import NetlinkVfLink
from nfvbed.host.nics.pf import discover
from nfvbed.records import QualityWarning, Readiness
from nfvbed.records.readings import Part
from nfvbed.sites.kolla.preflight import functions_trial, record
from nfvbed.sites.kolla.preflight.facts import facts_of
from nfvbed.sites.kolla.preflight.functions import Trial
from nfvbed.spec.choices import resolve
from nfvbed.spec.vnf import VnfUse
from tests.functional.disturbed import retried, send_enough

SETTINGS = {
    "p0": {"vlan": 101, "trust": True, "spoof_check": True, "max_rate_mbps": 200},
    "p1": {"vlan": 101, "mac": "02:4e:46:56:77:01", "trust": False, "spoof_check": False},
}


FRAMES = 20
ATTEMPTS = 60
FLOWING = 2000
"""Frames while the NIC is reset: ten seconds of them."""


def with_options(variant, **options):
    """The same variant with other options."""
    return type(variant).model_validate(variant.model_dump() | {"options": variant.options.model_dump() | options})


def nic_state():
    """All that a deployment may change of the NIC, as the kernel shows it."""
    (function,) = discover()
    folder = Path("/sys/bus/pci/devices") / function.address
    with IPRoute() as route:
        names = sorted(str(link.get_attr("IFLA_IFNAME")) for link in route.get_links())
        index = route.link_lookup(ifname=function.ports[0].name)[0]
        flags = next(iter(route.get_links(index)))["flags"] & 1
    return {
        "function": function.model_dump(),
        "autoprobe": (folder / "sriov_drivers_autoprobe").read_text(),
        "links": names,
        "up": flags,
        "vfs": NetlinkVfLink(function.ports[0].name).read(),
    }


def pass_frames(site, variant, topology, send, use=None):
    """Deploy, send frames both ways, count each; everything is as before when it is taken down."""
    before = nic_state()
    support = site.probe(variant)
    assert support.readiness is not Readiness.UNSUPPORTED, support.reason
    choice = None if topology == "p2p" else resolve(use or variant.native_vnf, variant, send.project)
    deployment = site.deploy(variant, topology, vnf=choice)
    try:
        assert QualityWarning.EMULATED_ACCELERATOR in site.warnings(
            deployment, site.look(deployment, Part.THREADS).threads
        )
        generator = site.open_generator(deployment)
        try:
            first, results, last = retried(
                lambda: (
                    site.look(deployment, Part.HOPS).hops,
                    send_enough(generator, send.request, FRAMES),
                    site.look(deployment, Part.HOPS).hops,
                ),
                lambda found: all(one.received == one.sent for result in found[1] for one in result.directions),
            )
        finally:
            generator.close()
        site.verify(deployment)
        sent = [sum(result.directions[number].sent for result in results) for number in (0, 1)]
        assert [sum(r.directions[number].received for r in results) for number in (0, 1)] == sent, results
        (pf,) = discover()
        shown = NetlinkVfLink(pf.ports[0].name).read()
        records = FunctionState.of(deployment).by_name
        for record in records.values():
            assert shown[record.index] == record.laid_down, (shown, record)
        hops = {
            new.name: (new.rx_packets - old.rx_packets, new.tx_packets - old.tx_packets)
            for old, new in zip(first, last, strict=True)
            if new.rx_packets is not None
        }
        through = [name for name in hops if re.match(r"(p|v)\d.?: vf ", name)]
        assert all(min(hops[name]) >= min(sent) for name in through), hops
        reported = {name: {"driver": r.driver, **r.laid_down.model_dump()} for name, r in records.items()}
        found = {"sent": sent, "hops": hops, "functions": reported, "versions": deployment.versions}
        found |= {"steps": deployment.steps, "vnfs": [handle.facts for handle in deployment.vnfs]}
    finally:
        site.destroy(deployment)
    assert nic_state() == before, (nic_state(), before)
    return found


def settings_are_laid_down(site, send):
    """A VLAN, an address, trust, spoof check and a rate of single functions are read back, and frames still pass."""
    variant = with_options(send.project.load_variant("sriov"), ports=SETTINGS)
    found = pass_frames(site, variant, "p2p", send)
    for name, wanted in SETTINGS.items():
        assert wanted.items() <= found["functions"][name].items(), found
    return found


def vlans_keep_apart(site, send):
    """Functions in different VLANs do not reach each other: what is laid down is in force."""
    ports = {"p0": {"vlan": 101}, "p1": {"vlan": 102}}
    variant = with_options(send.project.load_variant("sriov"), ports=ports)
    deployment = site.deploy(variant, "p2p")
    try:
        generator = site.open_generator(deployment)
        try:
            result = generator.run(send.request)
        finally:
            generator.close()
    finally:
        site.destroy(deployment)
    assert sum(one.sent for one in result.directions) > 0, result
    assert [one.received for one in result.directions] == [0, 0], result
    return {"sent": [one.sent for one in result.directions], "received": [0, 0]}


def reset_under_traffic(site, send):
    """The NIC is reset while frames flow: some are lost, then all pass again, and settings are as they were."""
    before = nic_state()
    variant = with_options(send.project.load_variant("sriov"), ports=SETTINGS)
    deployment = site.deploy(variant, "p2p")
    try:
        generator = site.open_generator(deployment)
        try:
            send_enough(generator, send.request, FRAMES)
            with ThreadPoolExecutor(max_workers=1) as other:
                flowing = other.submit(generator.run, replace(send.request, frames=FLOWING))
                report = site.reset(deployment, 1.0)
                broken = flowing.result()
            again = wait_until_all_pass(generator, send.request)
            results = retried(
                lambda: send_enough(generator, send.request, FRAMES),
                lambda results: all(one.received == one.sent for result in results for one in result.directions),
            )
        finally:
            generator.close()
        site.verify(deployment)
    finally:
        site.destroy(deployment)
    lost = [one.sent - one.received for one in broken.directions]
    assert max(lost) > 0, broken
    assert all(d.received == d.sent for result in results for d in result.directions), results
    assert nic_state() == before, (nic_state(), before)
    sent = [one.sent for one in broken.directions]
    return {"kind": report.kind, "steps": report.steps, "sent": sent, "lost": lost, "trials_until_all_pass": again}


def wait_until_all_pass(generator, request):
    """Send until nothing is lost: functions' drivers notice the reset at their next look, seconds later."""
    for number in range(1, ATTEMPTS):
        result = generator.run(request)
        if all(one.received == one.sent > 0 for one in result.directions):
            return number
    raise AssertionError(result)


def _through(topology, forwarding=None, kind="process", **options):
    """Make the proof that frames pass through VNFs; without `forwarding` through the variant's own."""

    def proof(site, send):
        variant = with_options(send.project.load_variant("sriov"), **options)
        vnic = "vf" if kind == "vm" else "any"
        use = VnfUse(vnf="vloop", kind=kind, forwarding=forwarding, vnic=vnic) if forwarding else None
        return pass_frames(site, variant, topology, send, use)

    return proof


def preflight_makes_functions_for_a_moment(site, send):
    """A rack's preflight reads the NIC, makes functions, is refused more than there are, and leaves it as it was."""
    before = nic_state()
    (pf,) = discover()
    facts = facts_of(_printed(record))
    (nic,) = [port for port in facts.nics if port.pci == pf.address]
    assert nic.total_functions >= 2 and not nic.is_function and nic.driver == "igb", nic
    assert facts.iommu_groups > 0
    made = Trial.model_validate(_printed(functions_trial, pf.address, "2"))
    assert made == Trial(before=0, made=2, after=0), made
    refused = Trial.model_validate(_printed(functions_trial, pf.address, str(nic.total_functions + 1)))
    assert (refused.made, refused.after) == (0, 0) and refused.refused, refused
    assert nic_state() == before, (nic_state(), before)
    return {"nic": nic.model_dump(), "made": made.model_dump(), "refused": refused.refused}


def _printed(module, *words):
    """Run a script as it runs on another host; return what it printed."""
    script = Path(module.__file__).read_bytes()
    done = subprocess.run([sys.executable, "-I", "-", *words], input=script, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


PROOFS = {
    "p2p": _through("p2p"),
    "preflight": preflight_makes_functions_for_a_moment,
    "settings": settings_are_laid_down,
    "vlans": vlans_keep_apart,
    "router": _through("pvp"),
    "pvp": _through("pvp", "mac"),
    "dpdk": _through("p2p", attach="dpdk"),
    "dpdk-pvp": _through("pvp", "mac", attach="dpdk"),
    "pvvp": _through("pvvp", "mac"),
    "pvvp-router": _through("pvvp"),
    "dpdk-pvvp": _through("pvvp", "mac", attach="dpdk"),
    "vm": _through("pvp", "mac", kind="vm"),
    "reset": reset_under_traffic,
    "vm-router": _through("pvp", "router", kind="vm"),
}


def run(name, send, site):
    """Run one of `PROOFS`."""
    return PROOFS[name](site, send)
