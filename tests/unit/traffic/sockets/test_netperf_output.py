"""netperf's keyval output, as it wrote it."""

from pathlib import Path

import pytest

from nfvbed.errors import GeneratorError
from nfvbed.traffic.sockets import netperf

CAPTURED = Path(__file__).parent / "captured"
PROGRAMS = netperf.NetperfPrograms(("netperf",), ("netserver",), "2.7.1")


def test_stream():
    found = netperf.parse_stream((CAPTURED / "np_stream.txt").read_text(), PROGRAMS)
    assert found.value("throughput") == pytest.approx(5177.28e6)
    assert found.value("retransmits") == 93
    assert found.duration_ns == 1_010_000_000
    assert (found.engine.name, found.engine.version) == ("netperf", "2.7.1")


def test_requests_have_percentiles_in_seconds():
    found = netperf.parse_requests((CAPTURED / "np_rr.txt").read_text(), PROGRAMS)
    assert found.value("transactions") == pytest.approx(24330.43)
    assert [found.value(f"latency {part}") for part in ("P50", "P90", "P99")] == pytest.approx([14e-6, 17e-6, 150e-6])
    assert found.value("latency max") == pytest.approx(0.01054)


def test_datagrams():
    found = netperf.parse_datagrams((CAPTURED / "np_udp.txt").read_text(), PROGRAMS, 64)
    (counts,) = found.directions
    assert (counts.sent, counts.received, counts.lost) == (71199, 45373, 25826)
    assert found.value("loss") == pytest.approx(36.27, abs=0.01)


def test_what_netperf_does_not_know_is_missing_and_no_number():
    text = (CAPTURED / "np_stream.txt").read_text().replace("LOCAL_TRANSPORT_RETRANS=93", "LOCAL_TRANSPORT_RETRANS=-1")
    assert netperf.parse_stream(text, PROGRAMS).value("retransmits") is None


def test_a_key_that_is_missing_is_named():
    text = (CAPTURED / "np_rr.txt").read_text().replace("P99_LATENCY", "P95_LATENCY")
    with pytest.raises(GeneratorError, match="does not tell") as caught:
        netperf.parse_requests(text, PROGRAMS)
    assert "P99_LATENCY" in str(caught.value)


def test_a_unit_that_is_not_known_is_no_bits_per_second():
    text = (CAPTURED / "np_stream.txt").read_text().replace("10^6bits/s", "MBytes/s")
    with pytest.raises(GeneratorError, match="unknown unit"):
        netperf.parse_stream(text, PROGRAMS)
