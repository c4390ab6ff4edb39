"""What files may say of tests between sockets and of cost."""

import pytest
from pydantic import ValidationError

from nfvbed.spec.testkinds.cost import CostTest
from nfvbed.spec.testkinds.sockets import RequestResponseTest, SocketLatencyTest, TcpThroughputTest, UdpThroughputTest


def test_length_is_that_of_all_conditions_and_repetitions():
    tcp = TcpThroughputTest(
        kind="tcp-throughput", streams=(1, 4, 8), message_bytes=(64, 1024), duration_s=2, repetitions=5
    )
    assert tcp.expected() == (60.0, 30)
    assert RequestResponseTest(kind="request-response").expected() == (15.0, 3)
    assert UdpThroughputTest(kind="udp-throughput").expected() == (30.0, 6)
    latency = SocketLatencyTest(kind="socket-latency", modes=("under-load",), message_bytes=(64, 128, 256))
    assert latency.conditions == 3


def test_netperf_sends_one_stream_and_no_load():
    assert TcpThroughputTest(kind="tcp-throughput").stream_counts == (1, 4)
    assert TcpThroughputTest(kind="tcp-throughput", tool="netperf").stream_counts == (1,)
    with pytest.raises(ValidationError, match="netperf sends one stream"):
        TcpThroughputTest(kind="tcp-throughput", tool="netperf", streams=(2,))
    with pytest.raises(ValidationError, match="as fast as it can"):
        UdpThroughputTest(kind="udp-throughput", tool="netperf", load_bits_per_s=10_000)


def test_datagrams_hold_at_least_what_tools_write_into_them():
    with pytest.raises(ValidationError, match="greater than or equal to 16"):
        UdpThroughputTest(kind="udp-throughput", message_bytes=(8,))


def test_maximum_load_is_the_default_and_there_are_two_trials():
    test = CostTest(kind="cost")
    assert (test.load_pps, test.fraction, test.builds_on) == (None, None, ())
    assert test.expected() == (20.0, 2)


def test_without_a_trace_there_is_one_trial():
    assert CostTest(kind="cost", trace=False, duration_s=3).expected() == (3.0, 1)


def test_a_fraction_builds_on_a_load():
    assert CostTest(kind="cost", fraction=0.5, of="PDR").builds_on == ("PDR",)


def test_two_loads_are_refused():
    with pytest.raises(ValidationError, match="load_pps or fraction"):
        CostTest(kind="cost", fraction=0.5, load_pps=1000)
