"""iperf3's documents, as it wrote them: two streams of TCP, datagrams of 64 bytes on a path that loses some."""

import json
from pathlib import Path

import pytest

from nfvbed.errors import GeneratorError
from nfvbed.traffic.sockets import iperf3

CAPTURED = Path(__file__).parent / "captured"


def test_streams_are_summed_at_the_receiver():
    found = iperf3.parse_tcp((CAPTURED / "iperf3_tcp.json").read_text())
    assert (found.engine.name, found.engine.version) == ("iperf3", "3.12")
    assert found.value("throughput") == pytest.approx(8.298e9, rel=1e-3)
    assert found.value("retransmits") == 287
    assert found.value("client CPU") == pytest.approx(26.4, abs=0.1)
    assert found.directions == ()
    assert len(found.raw["streams_bits_per_s"]) == 2
    assert found.raw["congestion_control"] == "bbr"


def test_retransmits_that_are_not_reported_are_no_zero():
    document = json.loads((CAPTURED / "iperf3_tcp.json").read_text())
    del document["end"]["sum_sent"]["retransmits"]
    assert iperf3.parse_tcp(json.dumps(document)).value("retransmits") is None


def test_datagrams_that_the_server_has_not_seen_are_lost_also_the_last_ones():
    found = iperf3.parse_udp((CAPTURED / "iperf3_udp.json").read_text(), 64)
    (counts,) = found.directions
    assert (counts.sent, counts.received, counts.lost) == (80330, 2757120 // 64, 80330 - 2757120 // 64)
    assert found.value("loss") == pytest.approx(100 * counts.lost / counts.sent)
    assert found.value("throughput") == pytest.approx(2757120 * 8 / 1.007855)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ('{"error": "unable to connect to server: Connection refused"}', "Connection refused"),
        ("iperf3: error", "iperf3: error"),
        ('{"start": {}, "end": {}}', "KeyError"),
    ],
)
def test_what_is_no_result_is_an_error_with_its_words(text, reported):
    for parse in (iperf3.parse_tcp, lambda words: iperf3.parse_udp(words, 64)):
        with pytest.raises(GeneratorError) as caught:
            parse(text)
        assert reported in str(caught.value)
