"""Step-driven tests: those whose steps are a chain become a test of it; any other one names the step that it lacks."""

import json
from pathlib import Path

import pytest

from nfvbed.vsperf.conf import VsperfSettings, read_settings, select, study_of
from nfvbed.vsperf.conf.steps import MissingStepError, without_steps
from nfvbed.vsperf.conf.testcase import TestCase
from tests.unit.vsperf.conf.conf_files import PROJECT, ROOT

RECORDED = json.loads((ROOT / "tests" / "unit" / "vsperf" / "steps" / "jerma.json").read_text())["tests"]
SWITCH = [["vswitch", "add_switch", "br0"], ["vswitch", "add_phy_port", "br0"], ["vswitch", "add_phy_port", "br0"]]
"""Steps 0 to 2."""
JOINED = [["vswitch", "add_connection", "br0", f"#STEP[{a}][0]", f"#STEP[{b}][0]"] for a, b in ((1, 2), (2, 1))]
SENT = [["trafficgen", "send_traffic", {"traffic_type": "rfc2544_continuous", "bidir": "True"}]]


def case(*steps, deployment="clean", parameters=None) -> TestCase:
    return TestCase("own", deployment, keywords={"TestSteps": list(steps), "Parameters": parameters or {}})


def lacking(*steps, **keys) -> str:
    with pytest.raises(MissingStepError) as caught:
        without_steps(case(*steps, **keys))
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "deployment", "traffic"),
    [
        (f"vswitch_{path}_{short}", deployment, f"rfc2544_{traffic}")
        for path, deployment in (("p2p", "p2p"), ("pvp", "pvp"), ("pvvp", "pvvp2"))
        for short, traffic in (("tput", "throughput"), ("cont", "continuous"), ("back2back", "back2back"))
    ],
)
def test_vsperfs_own_chains_by_steps_are_tests_of_their_deployment(name: str, deployment: str, traffic: str):
    recorded = RECORDED[name]
    steps = TestCase(name, recorded["deployment"], keywords={"TestSteps": recorded["steps"]})
    (plain,) = without_steps(steps)
    assert plain.deployment == deployment
    assert plain.parameters["TRAFFIC"] == {"traffic_type": traffic, "bidir": "True"}
    selection = select(VsperfSettings(tests=(steps,)), name, PROJECT)
    assert selection.missing == ()
    assert study_of(selection, PROJECT).experiment.topologies == (selection.topology,)


def test_flows_and_names_of_steps_join_ports_too():
    steps = [["#in", "vswitch", "add_phy_port", "br0"], ["#out", "vswitch", "add_phy_port", "br0"]]
    flows = [
        ["vswitch", "add_flow", "br0", {"in_port": f"#STEP[{a}][1]", "actions": [f"output:#STEP[{b}][1]"]}]
        for a, b in (("in", "out"), ("out", "in"))
    ]
    assert without_steps(case(SWITCH[0], *steps, *flows, *SENT))[0].deployment == "p2p"
    named = ["vswitch", "add_connection", "br0", "#STEP[-2][0]", "#STEP[-1][0]"]
    assert without_steps(case(*SWITCH, named, JOINED[1], ["!trafficgen", "send_traffic", {}]))[0].deployment == "p2p"


def test_the_traffic_of_the_step_weighs_more_than_that_of_the_test():
    parameters = {"TRAFFIC": {"traffic_type": "burst", "multistream": 8}, "TRAFFICGEN_DURATION": 1}
    (found,) = (one.parameters for one in without_steps(case(*SWITCH, *JOINED, *SENT, parameters=parameters)))
    assert found["TRAFFIC"] == {"traffic_type": "rfc2544_continuous", "multistream": 8, "bidir": "True"}
    assert found["TRAFFICGEN_DURATION"] == 1


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((*SWITCH, *JOINED), "no frames are sent"),
        ((*SWITCH, JOINED[0], *SENT), "other than a chain of all VNFs in both directions"),
        ((*SWITCH, ["tools", "exec_shell", "rm -rf /"], *JOINED, *SENT), "tools exec_shell before the traffic"),
        ((*SWITCH, *JOINED, *SENT, *SENT), "trafficgen send_traffic a second time"),
        ((*SWITCH, *JOINED, *SENT, ["tools", "assert", "1 > 2"]), "tools assert after the traffic"),
        ((*SWITCH, ["settings", "setValue", "VSWITCH", "none"], *JOINED, *SENT), "settings setValue"),
        ((*SWITCH, *JOINED, ["vswitch", "del_port", "br0", "#STEP[1][0]"], *SENT), "vswitch del_port before"),
        ((*SWITCH, ["vswitch", "add_vport", "br0"], *JOINED, *SENT), "1 virtual ports, 0 VNFs"),
        ((*SWITCH, *JOINED, ["vnf1", "start"], *SENT), "0 virtual ports, 1 VNFs"),
        ((*SWITCH, SWITCH[0], *JOINED, *SENT), "2 switches"),
        ((*SWITCH, ["vswitch", "add_connection", "br0", "dpdk0", "#STEP[1][0]"], *SENT), "no earlier step's: dpdk0"),
        (
            (
                *SWITCH,
                ["vswitch", "add_flow", "br0", {"in_port": "#STEP[1][1]", "priority": 9, "actions": ["drop"]}],
                *SENT,
            ),
            "add_flow with priority",
        ),
        (([], *SENT), "before the traffic"),
        ((["wait"], *SENT), "wait before the traffic"),
        ((["wait"],), "no frames are sent"),
    ],
)
def test_another_step_is_named_and_never_left_out(steps, said: str):
    assert said in lacking(*steps)


def test_steps_on_top_of_a_deployment_that_leave_it_as_it_is_are_that_deployment():
    read = ["vswitch", "dump_flows", "$VSWITCH_BRIDGE_NAME"]
    (found,) = without_steps(case(read, *SENT, deployment="pvp"))
    assert (found.deployment, found.parameters["TRAFFIC"]["traffic_type"]) == ("pvp", "rfc2544_continuous")
    # VSPERF sends by itself where no step does.
    (found,) = without_steps(case(read, deployment="pvp", parameters={"TRAFFIC": {"traffic_type": "burst"}}))
    assert (found.deployment, found.parameters["TRAFFIC"]["traffic_type"]) == ("pvp", "burst")


@pytest.mark.parametrize(
    "step",
    [
        ["vswitch", "restart"],
        ["vswitch", "del_flow", "br0"],
        ["VNF0", "execute_and_wait", "ls"],
        ["tools", "assert", "1"],
    ],
)
def test_any_other_step_on_top_of_a_deployment_is_named(step: list[str]):
    named = f"{step[0].replace('VNF0', 'vnf')} {step[1]} on top of deployment pvp"
    assert lacking(step, *SENT, deployment="pvp") == named
    assert lacking(*SENT, step, deployment="pvp") == named


def test_a_command_line_is_named_by_what_the_switchs_tool_does():
    shown = ["tools", "exec_shell", 'sudo $TOOLS["ovs-appctl"] -t ovs-vswitchd qos/show dpdk0', ".+"]
    assert lacking(shown, deployment="p2p") == "tools exec_shell (ovs-appctl qos/show) on top of deployment p2p"
    assert lacking(["tools", "exec_shell", "ls"], deployment="p2p") == "tools exec_shell on top of deployment p2p"


TYPES = ("rfc2544_throughput", "rfc2544_back2back", "rfc2544_continuous")


@pytest.mark.parametrize(
    ("name", "topology"), [("vswitch_pvp_all", "pvp"), ("vswitch_pvvp_all", "pvvp"), ("vswitch_p4vp_all", "pv4p")]
)
def test_traffic_of_several_types_on_one_path_is_one_experiment(name: str, topology: str):
    recorded = RECORDED[name]
    steps = TestCase(name, recorded["deployment"], keywords={"TestSteps": recorded["steps"]})
    assert [one.parameters["TRAFFIC"]["traffic_type"] for one in without_steps(steps)] == list(TYPES)
    settings = VsperfSettings(values={"TRAFFICGEN_DURATION": 5, "TRAFFICGEN_PKT_SIZES": (64,)}, tests=(steps,))
    selection = select(settings, name, PROJECT)
    assert (selection.missing, selection.topology) == ((), topology)
    experiment = study_of(selection, PROJECT).experiment
    assert [test.kind for test in experiment.tests] == ["search", "back-to-back"]
    assert experiment.trials.mrr_duration_s == 5, "the continuous stream"
    alone = [limit_of(kind) for kind in TYPES]
    assert experiment.repetitions.time_limit_s == sum(alone)


def limit_of(kind: str) -> float:
    """Return the time that a test of one type is given."""
    steps = case(*SWITCH, *JOINED, ["trafficgen", "send_traffic", {"traffic_type": kind}])
    settings = VsperfSettings(values={"TRAFFICGEN_DURATION": 5, "TRAFFICGEN_PKT_SIZES": (64,)}, tests=(steps,))
    return float(study_of(select(settings, "own", PROJECT), PROJECT).experiment.repetitions.time_limit_s)


def test_a_path_is_sent_on_again_as_it_was_and_in_another_type_alone():
    other = ["trafficgen", "send_traffic", {"traffic_type": "burst", "bidir": "False"}]
    assert "differs in more than its type" in lacking(*SWITCH, *JOINED, *SENT, other)
    other = ["trafficgen", "send_traffic", {"traffic_type": "burst", "bidir": "True"}]
    changed = ["vswitch", "del_port", "br0", "#STEP[1][0]"]
    assert "after the path was changed" in lacking(*SWITCH, *JOINED, *SENT, changed, other)


def test_a_test_without_steps_stays_as_it_is(tmp_path: Path):
    plain = TestCase("own", "p2p", keywords={"Parameters": {}})
    assert without_steps(plain) == (plain,)


def test_every_recorded_test_runs_or_names_what_it_lacks():
    for name, recorded in RECORDED.items():
        steps = TestCase(name, recorded["deployment"], keywords={"TestSteps": recorded["steps"]})
        try:
            assert not [one for one in without_steps(steps) if "TestSteps" in one.keywords]
        except MissingStepError as failure:
            assert str(failure)


def test_the_missing_step_is_in_the_refusal_with_its_line(tmp_path: Path):
    file = tmp_path / "01_own.conf"
    steps = "[['tools', 'exec_shell', 'ls'], ['trafficgen', 'send_traffic', {}]]"
    file.write_text(f"INTEGRATION_TESTS = [{{'Name': 'own', 'Deployment': 'clean',\n 'TestSteps': {steps}}}]\n")
    missing = select(read_settings([file]), "own", PROJECT).missing
    assert missing[0].startswith("a step has no equivalent: tools exec_shell before the traffic (TestSteps = ")
    assert "01_own.conf:2)" in missing[0]
