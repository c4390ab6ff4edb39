"""Stored figures as metrics: names, base units, labels, times; read back by the parser of OpenMetrics."""

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from nfvbed.compare.series import Setting, SettingFigure
from nfvbed.report.openmetrics import LABELS, history_text, labels_of, metric_unit, newest_figures, timestamp

SETTING = Setting(
    variant="ovs-dpdk", topology="pvp", vnf="process-io", frame_size=64, flows=1, bidirectional=True, site="lab",
    machine="m1",
)  # fmt: skip


def measured(value, at, unit="frames/s", run="r", **changed):
    setting = SETTING.model_copy(update=changed)
    hashes = dict.fromkeys(("host_hash", "config_hash", "rig_hash"), "0" * 64)
    return SettingFigure(setting=setting, run=run, at=at, cell="c", value=value, unit=unit, **hashes)


OLD, NEW = "2026-01-02T03:04:05+00:00", "2026-02-02T03:04:05+00:00"
FIGURES = [
    measured(2e6, NEW, run="b"),
    measured(1e6, OLD, run="a"),
    measured(250.0, NEW, "us", test="wake-up: p99"),
    measured(8e9, NEW, "bit/s", variant='odd "name"\\', test="tcp: goodput"),
]


@pytest.mark.parametrize(
    ("stored", "ending", "factor"),
    [
        ("frames/s", "frames_per_second", 1),
        ("us", "seconds", 1e-6),
        ("bit/s", "bytes_per_second", 0.125),
        ("%", "ratio", 0.01),
        ("cycles/packet", "cycles_per_packet", 1),
        ("/packet", "per_packet", 1),
        ("UEs", "ues", 1),
        ("", "value", 1),
    ],
)
def test_units_are_base_units(stored, ending, factor):
    assert metric_unit(stored) == (ending, factor)


def test_history_is_openmetrics_with_the_times_of_runs():
    text = history_text(FIGURES)
    assert text.endswith("# EOF\n")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    rates = families["nfvbed_measured_frames_per_second"]
    assert rates.unit == "frames_per_second"
    assert [(sample.value, float(sample.timestamp)) for sample in rates.samples] == [
        (1e6, timestamp(OLD)),
        (2e6, timestamp(NEW)),
    ], "a series is in order of time"
    (latency,) = families["nfvbed_measured_seconds"].samples
    assert latency.value == pytest.approx(250e-6)
    (goodput,) = families["nfvbed_measured_bytes_per_second"].samples
    assert goodput.value == 1e9 and goodput.labels["variant"] == 'odd "name"\\'


def test_the_newest_figure_of_each_setting_is_told_without_a_time():
    families = {family.name: family for family in newest_figures(FIGURES)}
    (rate,) = families["nfvbed_measured_frames_per_second"].samples
    assert (rate.value, rate.timestamp) == (2e6, None)
    began = families["nfvbed_measured_run_start_timestamp_seconds"]
    assert {sample.value for sample in began.samples} == {timestamp(NEW)}
    assert len(began.samples) == 3


def test_no_label_grows_with_the_number_of_runs():
    assert tuple(labels_of(SETTING)) == LABELS
    assert not {"run", "cell", "host_hash", "config_hash", "rig_hash"} & set(LABELS)


def test_runs_of_one_second_are_one_sample():
    text = history_text([measured(1.0, OLD, run="a"), measured(2.0, OLD, run="b")])
    (family,) = text_string_to_metric_families(text)
    assert [sample.value for sample in family.samples] == [2.0]
