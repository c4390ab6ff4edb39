"""sockperf's full log, as it wrote it (every hundredth message was to be answered), and one made by hand."""

from pathlib import Path

import pytest

from nfvbed.compare.rows.latency import merge_latency
from nfvbed.errors import GeneratorError
from nfvbed.records import Engine
from nfvbed.traffic.sockets import sockperf

CAPTURED = Path(__file__).parent / "captured"
ENGINE = Engine(name="sockperf", version="3.7")
ASKED = sockperf.Exchange("under-load", "udp", 64, 1, 10_000)


def log(sent, times):
    lines = [f"sockperf: [Valid Duration] RunTime=0.5 sec; SentMessages={sent}; ReceivedMessages={len(times)}", "---"]
    lines += ["packet, txTime(sec), rxTime(sec), latency(usec)"]
    lines += [f"{number}, {began:.9f}, {back:.9f}, 1.0" for number, (began, back) in enumerate(times)]
    return "\n".join([*lines, "------------------------------", ""])


def test_captured_log():
    found = sockperf.parse_log((CAPTURED / "sockperf_under_load.csv").read_text())
    assert found.sent == 5101
    assert len(found.times_ns) == 52
    assert found.times_ns[0] == 2_428_027_745 - 2_424_088_351
    assert found.last_ns == 2_934_132_872


def test_percentiles_are_of_whole_round_trips_and_messages_without_an_answer_are_lost():
    times = [(second, second + 10e-6 * (second + 1)) for second in range(10)]
    found = sockperf.figures_of(sockperf.parse_log(log(12, times)), ENGINE, ASKED)
    assert found.value("round trip P50") == pytest.approx(50e-6, rel=1e-3)
    assert found.value("round trip P90") == pytest.approx(90e-6, rel=1e-3)
    assert found.value("round trip max") == pytest.approx(100e-6)
    assert found.value("loss") == pytest.approx(100 * 2 / 12)
    (counts,) = found.directions
    assert (counts.sent, counts.received, counts.lost) == (12, 10, 2)
    summary = merge_latency([text for text in found.latency_hdr if text])
    assert summary is not None
    assert summary.p50_ns == pytest.approx(50_000, rel=1e-3)


def test_a_log_without_messages_is_an_error():
    with pytest.raises(GeneratorError, match="no message"):
        sockperf.parse_log(log(5, []))


def test_a_log_that_does_not_say_what_was_sent_is_an_error():
    with pytest.raises(GeneratorError, match="how many"):
        sockperf.parse_log(log(1, [(1, 2)]).replace("SentMessages", "Messages"))
