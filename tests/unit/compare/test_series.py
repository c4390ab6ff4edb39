"""Series: which runs are of one setting, in which order, and what changed between them."""

import numpy as np

from nfvbed.compare.samples.steps import NEWEST
from nfvbed.compare.series import Setting, SettingFigure, by_setting, changes_in, machine_of, series_of
from nfvbed.records import Sessions

SETTING = Setting(
    variant="ovs-dpdk", topology="pvp", vnf="process-io", frame_size=64, flows=1, bidirectional=True, site="lab",
    machine="m",
)  # fmt: skip
HOST = {
    "cpu": {"model name": "Example", "microcode": "0x1"},
    "topology": {"allowed": [0, 1], "isolated": []},
    "kernel": "6.12.9",
}


def measured(place: int, value: float = 1e6, **changed: object) -> SettingFigure:
    entry = SettingFigure(
        setting=SETTING, run=f"run-{place:03d}", at=f"2026-01-01T00:{place // 60:02d}:{place % 60:02d}Z", cell="c",
        value=value, unit="frames/s", host_hash="h1", config_hash="c1", rig_hash="r1",
    )  # fmt: skip
    return entry.model_copy(update=changed)


def test_a_series_is_of_one_setting_in_order_of_time():
    other = measured(7, setting=SETTING.model_copy(update={"test": "search: NDR"}))
    found = by_setting([measured(2), measured(0), other, measured(1)])
    assert [entry.run for entry in found[SETTING.name]] == ["run-000", "run-001", "run-002"]
    assert found[other.setting.name] == (other,)


def test_every_part_of_a_setting_tells_it_from_others():
    changed = {
        "variant": "vpp", "topology": "pvvp", "vnf": "native", "frame_size": 1518, "flows": 2, "bidirectional": False,
        "test": "soak", "site": "devcloud", "machine": "n", "simulated": True,
        "sessions": Sessions.MIRRORED, "neighbour": "stress-ng 0.15.06: 1 cpu workers on cores 0",
    }  # fmt: skip
    names = {SETTING.model_copy(update={key: value}).name for key, value in changed.items()} | {SETTING.name}
    assert set(changed) == set(Setting.model_fields)
    assert len(names) == len(changed) + 1


def test_of_many_runs_the_newest_are_in_the_series():
    (members,) = by_setting(measured(place) for place in range(NEWEST + 5)).values()
    found = series_of(members)
    assert len(found.measured) == len(found.finding.figures) == NEWEST
    assert found.measured[-1].run == f"run-{NEWEST + 4:03d}"


def test_a_machine_stays_itself_with_another_kernel_and_not_with_another_processor():
    updated = {**HOST, "kernel": "6.18.0", "cpu": {**HOST["cpu"], "microcode": "0x2"}, "mitigations": {"mds": "x"}}
    replaced = {**HOST, "cpu": {"model name": "Other", "microcode": "0x1"}}
    fewer = {**HOST, "topology": {"allowed": [0], "isolated": []}}
    assert machine_of(HOST, "a") == machine_of(updated, "b")
    assert len({machine_of(host, "a") for host in (HOST, replaced, fewer)}) == 3
    assert machine_of({}, "f" * 64) == "f" * 12, "what is not stored is known by its hash"
    assert machine_of({"simulated": True, "cpu": "none", "version": "1"}, "a") == machine_of(
        {"simulated": True, "cpu": "none", "version": "2"}, "b"
    )


def test_changes_are_named_key_by_key_where_they_are_stored():
    runs = [measured(0), measured(1, host_hash="h2"), measured(2, host_hash="h2", rig_hash="r2", config_hash="c2")]
    stored = {"h1": {"kernel": "6.12"}, "h2": {"kernel": "6.18"}, "c1": {"versions": {"ovs": "3.1"}},
              "c2": {"versions": {"ovs": "3.2"}}}  # fmt: skip
    first, second = changes_in(series_of(runs), stored)
    assert (first.place, first.run, first.what) == (1, "run-001", ("kernel: 6.12 -> 6.18",))
    assert second.what == ("rig: hash r1 -> r2", "versions.ovs: 3.1 -> 3.2")


def test_a_step_is_found_across_a_change_of_the_kernel():
    rates = np.random.default_rng(3).normal(1, 0.01, 12) * np.where(np.arange(12) < 7, 1e6, 0.7e6)
    runs = [measured(place, float(rate), host_hash="h1" if place < 7 else "h2") for place, rate in enumerate(rates)]
    found = series_of(runs)
    (step,) = found.finding.steps
    assert step.place == 7 == changes_in(found, {})[0].place
