"""The checksum trap as a user meets it: `nfvbed onboard` of a raw-Ethernet VNF on kernel ports, and its cost."""

import json
import statistics

import pytest

from tests.functional.lab_host import assert_back_to, snapshot

pytestmark = pytest.mark.no_hugepages

BRIDGE = ("onboard", "vloop", "--variant", "linux-bridge")
THREE_RUNS = """
import sys
from nfvbed.cli import main, offload_price
offload_price._RUNS = 3
sys.exit(main.main(sys.argv[1:]))
"""
"""nfvbed, whose cost of offloads is of three runs of each kind: more only narrow the interval."""
FRAMES = "frames with a checksum left to hardware: "


def test_a_raw_vnf_that_is_given_incomplete_checksums_is_found_out_and_gets_no_price(ask, before, mark):
    """A price would mean nothing of it, or take apart what is deployed."""
    status, out, err = ask(*BRIDGE, "--forwarding", "raw")
    assert status == 0, err
    assert f"{FRAMES}broken" in out
    assert "WARNING: ordinary traffic would be lost in silence" in out
    assert "--no-offloads" in out
    assert "--forwarding bridge --offload-price" in out
    status, out, err = ask(*BRIDGE, "--forwarding", "raw", "--json")
    assert status == 0, err
    found = json.loads(out)["checksum_offload"]
    assert found["result"] == "broken"
    assert "offloads: false" in found["remedy"]
    now = snapshot(mark)
    for forwarding, refusal, said in (("raw", 2, "--forwarding bridge"), ("bridge", 13, "nfvbed destroy")):
        status, _, err = ask(*BRIDGE, "--forwarding", forwarding, "--offload-price")
        assert status == refusal
        assert said in err
    assert snapshot(mark) == now
    assert ask("destroy")[0] == 0
    assert_back_to(before, mark)


def test_a_raw_vnf_without_offloads_lets_ordinary_traffic_through(ask):
    """What VNFs of other kinds do with checksums is in `test_vnf_offloads.py`."""
    status, out, err = ask(*BRIDGE, "--forwarding", "raw", "--no-offloads")
    assert status == 0, err
    assert FRAMES + "completed" in out
    assert "WARNING" not in out


@pytest.mark.slow
def test_the_price_is_measured_with_an_ordinary_vnf_and_leaves_nothing(ask, before, mark):
    price = (*BRIDGE, "--forwarding", "bridge", "--offload-price", "--json")
    status, out, err = ask(*price, program=("-c", THREE_RUNS))
    assert status == 0, err
    price = json.loads(out)
    on, off = price["on_bits_per_s"], price["off_bits_per_s"]
    assert len(on) == len(off) == 3
    assert min(on + off) > 0
    assert price["ratio"] == pytest.approx(statistics.median(off) / statistics.median(on))
    low, high = price["ratio_interval"]
    assert low <= price["ratio"] <= high
    assert_back_to(before, mark)


@pytest.mark.slow
def test_nextepc_is_no_trap_and_its_price_is_measured(ask, before, mark):
    core = ("onboard", "vepc", "--variant", "linux-bridge")
    status, out, err = ask(*core)
    assert status == 0, err
    assert FRAMES + "completed" in out, "the PDN gateway's kernel does it before the tunnel"
    assert "WARNING" not in out
    assert ask("destroy")[0] == 0
    status, out, err = ask(*core, "--offload-price", "--json", program=("-c", THREE_RUNS))
    assert status == 0, err
    price = json.loads(out)
    assert len(price["on_bits_per_s"]) == len(price["off_bits_per_s"]) == 3
    assert min(price["on_bits_per_s"] + price["off_bits_per_s"]) > 0
    assert_back_to(before, mark)
