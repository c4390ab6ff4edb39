"""The doctor of a rack over SSH: a network namespace with an sshd stands for two of its machines, the third is silent.

Facts are this machine's own, so that most of what the file describes is not there, and is named. As root.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from nfvbed.host.probes.devices import probe_nics
from nfvbed.host.probes.host import Host
from tests.functional.lab_host import ROOT
from tests.functional.ssh_host import PORT, THERE

pytestmark = pytest.mark.no_hugepages


@pytest.fixture(scope="module", name="report")
def _report(far, tmp_path_factory):
    """Run the doctor, as a user does, on a rack of which compute1 is the controller once more, and compute2 silent."""
    root = tmp_path_factory.mktemp("root")
    (root / "deploy" / "sites").mkdir(parents=True)
    (root / "deploy" / "variants").symlink_to(ROOT / "deploy" / "variants")
    for folder in ("flavors", "kolla", "vnfd", "vsperf-conf"):
        (root / folder).symlink_to(ROOT / folder)
    # The rack's addresses lead to the namespace; the host's key is checked all the same.
    (far.folder / "ssh_config").write_text(f"Host 10.10.0.*\n  HostName {THERE}\n")
    access = {key: far.keys()[key] for key in ("port", "key", "known_hosts", "connect_timeout_s", "keepalive_s")}
    access |= {"ssh_config": str(far.folder / "ssh_config")}
    site = yaml.safe_load((ROOT / "deploy" / "sites" / "rack.yml").read_text())
    site |= {"name": "mine", "ssh": access}
    site["hosts"]["compute2"]["ssh"] = access | {"port": PORT + 1}
    (root / "deploy" / "sites" / "mine.yml").write_text(yaml.safe_dump(site, sort_keys=False))
    argv = [sys.executable, "-m", "nfvbed", "doctor", "--site", "mine", "--variant", "ovs-dpdk", "--json"]
    done = subprocess.run(
        [*argv, "--root", str(root)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 11, done.stdout + done.stderr
    return json.loads(done.stdout)


def faults(report, machine):
    return {fault["key"].partition("mine.yml ")[2]: fault for fault in report["faults"] if fault["machine"] == machine}


def said(report, machine, key):
    """Return what is said of one key, which may have several faults."""
    found = [one for one in report["faults"] if one["machine"] == machine and one["key"].endswith(f"mine.yml {key}")]
    return [one["what"] for one in found]


def test_facts_are_those_of_the_machine(report):
    facts = report["machines"]["controller"]
    assert set(report["machines"]) == {"controller", "compute1", "generator"}
    assert facts["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert facts["address"] == THERE and facts["address_on"] == "control"
    here = {nic.address: nic.driver for nic in probe_nics(Host()).nics}
    assert {nic["pci"]: nic["driver"] for nic in facts["nics"] if nic["pci"]} == here
    assert sum(len(node["cores"]) for node in facts["nodes"]) == os.cpu_count()


def test_a_machine_that_cannot_be_reached_is_named_and_the_others_are_checked(report):
    (silent,) = faults(report, "compute2").values()
    assert "nothing answers for SSH" in silent["what"] and "Connection refused" in silent["observed"]
    for machine in ("controller", "compute1", "generator"):
        assert faults(report, machine)["hosts." + machine + ".nics[0].mac"]["fix"]


def test_all_faults_at_once(report):
    found = faults(report, "compute1")
    of_address = said(report, "compute1", "hosts.compute1.address")
    assert any("is the same machine as controller" in what for what in of_address), of_address
    assert any("has not the address by which it is reached" in what for what in of_address), of_address
    assert "has not PCI device 0000:3b:00.0" in found["hosts.compute1.nics[1].pci"]["what"]
    assert "is the address of control" in found["hosts.compute1.nics"]["observed"]
    assert found["hosts.compute1.numa[0].cores"]["observed"].startswith("node 0 has 0")
    (support,) = report["variants"]
    assert (support["variant"], support["readiness"]) == ("ovs-dpdk", "unsupported")
    assert "more, above" in support["reason"]
