"""How long VNFs took to onboard, by variant and path."""

from nfvbed.compare.onboarding import onboarding_times
from nfvbed.records import FactRecord
from nfvbed.report.onboarding import lines
from tests.sample_records import RUN


def fact(step, seconds, round_number=1, variant="ovs-dpdk", role="subject"):
    detail = {"variant": variant, "role": role, "topology": "pvp", "vnf": "vm-bridge"}
    duration_ns = round(seconds * 1e9)
    return FactRecord(run=RUN, cell=None, round=round_number, step=step, duration_ns=duration_ns, detail=detail)


FACTS = (
    fact("deploy", 40.0),
    fact("onboard.vnf1.create", 1.0),
    fact("onboard.first-frame", 30.0),
    fact("onboard.vnf1.create", 3.0, 2),
    fact("onboard.first-frame", 34.0, 2),
    fact("onboard.vnf1.create", 2.0, variant="linux-bridge"),
    fact("onboard.first-frame", 28.5, variant="linux-bridge"),
)


def test_each_variant_has_its_median_and_range():
    dpdk, bridge = onboarding_times(FACTS)
    assert (dpdk.variant, dpdk.topology, dpdk.vnf) == ("ovs-dpdk", "pvp", "vm-bridge")
    assert (dpdk.first_frame.median_ns, dpdk.first_frame.low_ns, dpdk.first_frame.high_ns) == (32e9, 30e9, 34e9)
    assert [(one.step, one.median_ns, one.count) for one in dpdk.steps] == [("vnf1.create", 2e9, 2)]
    assert (bridge.variant, bridge.first_frame.count) == ("linux-bridge", 1)


def test_what_was_not_waited_for_is_left_out():
    assert onboarding_times([fact("onboard.vnf1.create", 1.0)]) == ()
    assert onboarding_times([fact("onboard.first-frame", 1.0, role="bare-ports")]) == ()


def test_lines_name_variant_path_and_steps():
    heading, dpdk, bridge = lines(FACTS)
    assert heading.startswith("Onboarding, seconds")
    assert dpdk == "  ovs-dpdk, pvp vm-bridge: 32.00 (30.00 - 34.00, n 2): vnf1.create 2.00"
    assert bridge == "  linux-bridge, pvp vm-bridge: 28.50 (n 1): vnf1.create 2.00"
    assert lines([]) == ()
