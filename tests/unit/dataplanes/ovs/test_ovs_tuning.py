"""Options of the userspace datapath become Open vSwitch's settings; what it has not is refused with its version."""

import pytest

from nfvbed.dataplanes.ovs import tuning
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.wiring import require_path
from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.plan.plan import expand
from nfvbed.records import Readiness, Support
from nfvbed.sites.doctor import with_misfits
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant


def options(**values):
    return OvsDpdkOptions(dataplane="ovs-dpdk", **values)


def program(tmp_path, text):
    switch = OvsBinaries(tmp_path)
    switch.vswitchd.parent.mkdir(parents=True, exist_ok=True)
    switch.vswitchd.write_text(f"#!/bin/sh\necho '{text}'\n")
    switch.vswitchd.chmod(0o755)
    return switch


def test_defaults_are_left_to_open_vswitch():
    assert tuning.userspace_settings(options()) == {}
    assert tuning.interface_settings("p0", options(), (0,)) == {}
    assert tuning.bridge_settings(options()) == {}


def test_every_option_is_written_under_its_name():
    found = tuning.userspace_settings(
        options(
            smc=True,
            emc=False,
            rxq_assignment="group",
            pmd_maxsleep_us=50,
            flow_limit=2000,
            max_idle_ms=1000,
            max_revalidator_ms=200,
            auto_load_balance={"interval_min": 2, "load_percent": 80, "improvement_percent": 10},
        )
    )
    assert found == {
        "smc-enable": "true",
        "emc-insert-inv-prob": "0",
        "pmd-rxq-assign": "group",
        "pmd-maxsleep": "50",
        "flow-limit": "2000",
        "max-idle": "1000",
        "max-revalidator": "200",
        "pmd-auto-lb": "true",
        "pmd-auto-lb-rebal-interval": "2",
        "pmd-auto-lb-load-threshold": "80",
        "pmd-auto-lb-improvement-threshold": "10",
    }


def test_affinity_names_cores_by_the_threads_order():
    wanted = options(pmd_cores=2, n_rxq=2, rxq_affinity={"p0": (1, 0)})
    assert tuning.interface_settings("p0", wanted, (4, 6)) == {"pmd-rxq-affinity": "0:6,1:4"}
    assert tuning.interface_settings("p1", wanted, (4, 6)) == {}


def test_affinity_of_a_port_that_is_not_there():
    with pytest.raises(UnsupportedError, match="v1a") as caught:
        options(rxq_affinity={"v1a": (0,)}).check_layout(layout("p2p"))
    assert caught.value.observed == "topology p2p has p0, p1"


def test_affinity_that_leaves_queues_without_a_thread():
    with pytest.raises(UnsupportedError, match="no thread to poll p1"):
        options(rxq_affinity={"p0": (0,)}).check_layout(layout("p2p"))
    options(rxq_affinity={"p0": (0,), "p1": (0,)}).check_layout(layout("p2p"))
    options(pmd_cores=2, rxq_affinity={"p0": (0,)}).check_layout(layout("p2p"))


def variant(topologies, **values):
    return Variant(name="x", title="x", port_kind="vhost-user", topologies=topologies, options=options(**values))


def test_affinity_is_of_one_topology_at_least():
    tuning.check_affinity(variant(()))
    tuning.check_affinity(variant(("p2p", "pvp"), pmd_cores=2, rxq_affinity={"v1a": (0,)}))
    tuning.check_affinity(variant(("p2p", "pvNp"), pmd_cores=2, rxq_affinity={"v3a": (0,)}))
    with pytest.raises(UnsupportedError, match="names v3a"):
        tuning.check_affinity(variant(("p2p", "pvp"), pmd_cores=2, rxq_affinity={"v3a": (0,)}))
    with pytest.raises(UnsupportedError, match="no thread to poll p1"):
        tuning.check_affinity(variant(("p2p", "pvNp", "p2v"), rxq_affinity={"p0": (0,)}))


def test_each_topology_that_an_affinity_does_not_fit_is_named():
    assert variant(("p2p", "pvp")).misfits == {}
    found = variant(("p2p", "pvp", "pvNp", "p2v"), pmd_cores=2, rxq_affinity={"v2a": (0,)}).misfits
    assert list(found) == ["p2p", "pvp", "pv1p", "p2v"]
    assert found["pvp"].observed == "topology pvp has p0, v1a, v1b, p1"


def test_the_doctor_tells_each_topology_that_does_not_fit():
    ready = Support(variant="x", readiness=Readiness.READY)
    assert with_misfits(ready, variant(("p2p", "pvp"))) == ready
    some = variant(("p2p", "pvp", "pvvp"), pmd_cores=2, rxq_affinity={"v2a": (0,)})
    reported = with_misfits(ready, some)
    assert reported.readiness is Readiness.DEGRADED
    assert reported.reason == "not in p2p, pvp: rxq_affinity names v2a, and there is no such port"
    assert reported.fix.startswith("name these alone")
    none = ready.model_copy(update={"readiness": Readiness.UNSUPPORTED, "reason": "no Open vSwitch"})
    assert with_misfits(none, some) == none


def test_a_plan_tells_it_of_the_cells_before_anything_is_deployed():
    some = variant(("p2p", "pvp"), pmd_cores=2, rxq_affinity={"v1a": (0,)})
    experiment = Experiment(
        name="x", title="x", variants=("x",), topologies=("p2p",), frame_sizes=(64,), ceilings=False
    )
    ((cell, reason),) = expand(experiment, [some]).absent
    assert cell.id == "x/p2p/64"
    assert reason.startswith("rxq_affinity names v1a, and there is no such port (topology p2p has p0, p1)")
    assert expand(experiment, [variant(("p2p", "pvp"))]).absent == ()


def test_such_a_path_is_refused_before_the_host_is_asked():
    with pytest.raises(UnsupportedError, match="names v1a") as caught:
        require_path(variant(("p2p",), pmd_cores=2, rxq_affinity={"v1a": (0,)}), "p2p", None)
    assert caught.value.where == "options.rxq_affinity"


@pytest.mark.parametrize(
    "values",
    [
        {"rxq_affinity": {"p0": (1,)}},
        {"rxq_affinity": {"p0": (0, 0)}},
        {"rxq_affinity": {"p0": (-1,)}},
        {"rxq_assignment": "roundrobin", "auto_load_balance": {}},
    ],
)
def test_options_that_contradict_each_other(values):
    with pytest.raises(ValueError, match="rxq_a|auto_load"):
        options(**values)


def test_a_switch_that_is_too_old_for_sleeping_threads(tmp_path):
    old = program(tmp_path, "ovs-vswitchd (Open vSwitch) 2.17.9")
    tuning.check_version(options(), old)
    with pytest.raises(UnsupportedError, match="pmd-maxsleep") as caught:
        tuning.check_version(options(pmd_maxsleep_us=50), old)
    assert "2.17" in caught.value.observed
    tuning.check_version(options(pmd_maxsleep_us=50), program(tmp_path, "x (Open vSwitch) 3.1.0"))


@pytest.mark.parametrize(
    ("kind", "values", "version", "named"),
    [
        ("ovs-dpdk", {"rxq_assignment": "group"}, "2.15.0", "came with 2.16"),
        ("ovs-dpdk", {"rxq_assignment": "group"}, "2.16.0", ""),
        ("ovs-afxdp", {"need_wakeup": False}, "3.6.3", ""),
        ("ovs-afxdp", {"need_wakeup": False}, "3.7.0", "went with 3.7"),
        ("ovs-afxdp", {"need_wakeup": False}, "4.0.0", "went with 3.7"),
        ("ovs-afxdp", {"need_wakeup": True}, "4.0.0", ""),
    ],
)
def test_what_a_version_would_take_without_a_word_is_refused(tmp_path, kind, values, version, named):
    """Its NEWS says since when, or until when; the setting itself is never answered."""
    model = {"ovs-dpdk": OvsDpdkOptions, "ovs-afxdp": OvsAfxdpOptions}[kind]
    asked, switch = model(dataplane=kind, **values), program(tmp_path, f"ovs-vswitchd (Open vSwitch) {version}")
    if not named:
        tuning.check_version(asked, switch)
        return
    with pytest.raises(UnsupportedError) as caught:
        tuning.check_version(asked, switch)
    assert named in caught.value.observed


def test_a_switch_without_a_version(tmp_path):
    with pytest.raises(PrerequisiteError):
        tuning.version(program(tmp_path, "something else"))
    with pytest.raises(PrerequisiteError):
        tuning.version(OvsBinaries(tmp_path / "not-there"))
