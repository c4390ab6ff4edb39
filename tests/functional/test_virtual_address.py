"""A controller asks its network for the rack's virtual address: two network namespaces and the kernel's own ARP."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_hugepages

ROOT = Path(__file__).resolve().parents[2]
OWN, TAKEN, FREE, ELSEWHERE = "10.9.0.1", "10.9.0.2", "10.9.0.77", "10.99.0.1"
MAC = "52:54:00:00:09:02"
PROGRAM = f"""
import json, os, subprocess, sys
def run(*argv):
    subprocess.run(argv, check=True)
other = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep 60"], stdout=subprocess.PIPE)
other.stdout.readline()
try:
    run("ip", "link", "add", "va0", "type", "veth", "peer", "name", "vb0", "address", "{MAC}", "netns", str(other.pid))
    run("ip", "address", "add", "{OWN}/24", "dev", "va0")
    run("ip", "link", "set", "va0", "up")
    there = ("nsenter", "--net", "-t", str(other.pid), "ip")
    run(*there, "address", "add", "{TAKEN}/24", "dev", "vb0")
    run(*there, "link", "set", "vb0", "up")
    from nfvbed.sites.kolla.preflight.record import neighbour
    print(json.dumps([neighbour(one) for one in ("{TAKEN}", "{FREE}", "{ELSEWHERE}", "{OWN}")]))
finally:
    other.kill()
"""


@pytest.mark.timeout(60)
def test_somebody_who_has_it_answers_and_a_free_one_fails():
    argv = ["unshare", "--net", sys.executable, "-c", PROGRAM]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    taken, free, elsewhere, own = json.loads(done.stdout)
    assert f"lladdr {MAC}" in taken and taken.endswith("REACHABLE")
    assert free.endswith("FAILED")
    assert elsewhere == own == ""
