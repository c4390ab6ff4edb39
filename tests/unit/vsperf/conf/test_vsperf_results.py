"""VSPERF's result files are read as VSPERF's, never as ours."""

from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.vsperf.conf import read_results
from tests.refusals import misconfigured
from tests.unit.vsperf.conf.conf_files import reported

HEADER = (
    "tx_rate_fps,throughput_rx_fps,tx_rate_mbps,throughput_rx_mbps,tx_rate_percent,throughput_rx_percent,"
    "min_latency_ns,max_latency_ns,avg_latency_ns,frame_loss_percent,type,packet_size"
)
FULL = HEADER + ",id,deployment,vswitch,traffic_type,test_execution_time,start_time,stop_time,stream_count,match_type"
FULL += ",pre-installed_flows,guest_loopback_app"
LINE = "1000.0,990.0,0.512,0.506,100,99.0,1,15,2.5,1.0,rfc2544_continuous,64"
WHOLE = (
    LINE
    + ",pvvp_cont,pvvp,OvsDpdkVhost,udp,00:00:41,2026-01-31 12:00:00,2026-01-31 12:00:41,8000,L4,No,testpmd testpmd"
)


def write(folder: Path, text: str) -> Path:
    path = folder / "result_0_pvvp_cont_pvvp.csv"
    path.write_text(text)
    return path


def refused(folder: Path, text: str, *parts: str) -> None:
    file = write(folder, text)
    misconfigured(lambda: read_results(file), "result_0_pvvp_cont_pvvp.csv", *parts)


def test_a_whole_line(tmp_path: Path):
    (result,) = read_results(write(tmp_path, f"{FULL}\r\n{WHOLE}\r\n"))
    assert result.measured_by == "vsperf"
    assert (result.test, result.deployment, result.vswitch) == ("pvvp_cont", "pvvp", "OvsDpdkVhost")
    assert (result.type, result.packet_size_bytes, result.streams) == ("rfc2544_continuous", 64, 8000)
    assert result.guest_loopback == ("testpmd", "testpmd")
    assert result.numbers["throughput_rx_fps"] == 990
    assert result.numbers["avg_latency_ns"] == 2.5
    assert (result.ended_at - result.started_at).total_seconds() == 41
    assert result.texts["traffic_type"] == "udp"
    assert (result.line, Path(result.file).name) == (2, "result_0_pvvp_cont_pvvp.csv")


def test_the_generator_alone_has_no_switch_and_no_times(tmp_path: Path):
    (result,) = read_results(write(tmp_path, f"{HEADER}\n{LINE}\n"))
    assert (result.test, result.vswitch, result.started_at, result.guest_loopback) == (None, None, None, ())


def test_what_a_generator_does_not_know_is_missing_not_zero(tmp_path: Path):
    line = "1000.0,990.0,,N/A,Unknown,nan,,,,1.0,rfc2544_throughput,1518"
    (result,) = read_results(write(tmp_path, f"{HEADER}\n{line}\n"))
    assert set(result.numbers) == {"tx_rate_fps", "throughput_rx_fps", "frame_loss_percent"}


def test_other_tests_have_other_columns(tmp_path: Path):
    text = (
        "b2b_frames,b2b_frame_loss_percent,type,packet_size,id,imix_genome\n1000,0,rfc2544_back2back,64,back2back,a\n"
    )
    (result,) = read_results(write(tmp_path, text))
    assert result.numbers == {"b2b_frames": 1000, "b2b_frame_loss_percent": 0}
    assert result.texts == {"imix_genome": "a"}


def test_a_file_without_lines_has_no_results(tmp_path: Path):
    assert read_results(write(tmp_path, HEADER + "\n")) == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", (":1", "no column")),
        ("a,b\n1,2\n", (":1", "no column type, packet_size")),
        ("type,packet_size\nx,64\n", (":1", "no column with a result")),
        (f"{HEADER},type\n{LINE},x\n", (":1", "twice")),
        (f"{HEADER}\n{LINE}\n{LINE},9\n", (":3", "values than columns")),
        (f"{HEADER}\n1,2\n", (":2", "values than columns")),
        (f"{HEADER}\n{LINE.replace('990.0', 'fast')}\n", (":2 throughput_rx_fps", "'fast'")),
        (f"{HEADER}\n{LINE.replace('990.0', 'inf')}\n", (":2 throughput_rx_fps", "'inf'")),
        (f"{HEADER}\n{LINE.replace(',64', ',6.5')}\n", (":2 packet_size", "6.5")),
        (f"{HEADER}\n{LINE.replace(',64', ',')}\n", (":2 packet_size", "''")),
        (f"{HEADER}\n{LINE.replace('rfc2544_continuous', '')}\n", (":2 type", "empty")),
        (f"{FULL}\n{WHOLE.replace('2026-01-31 12:00:41', 'noon')}\n", (":2 stop_time", "'noon'")),
        (f'{HEADER}\n"{LINE}\n', (":2", "unexpected end of data")),
        (f"{HEADER}\n" + f"{LINE}\n" * 10_001, (":10002", "more than 10000 lines")),
    ],
    ids=[str(number) for number in range(14)],
)
def test_bad_files_are_reported(tmp_path: Path, text: str, parts: tuple):
    refused(tmp_path, text, *parts)


def test_what_nfvbed_exported_is_not_taken_for_vsperfs(tmp_path: Path):
    refused(tmp_path, f"{HEADER},nfvbed_run\n{LINE},x\n", "nfvbed exported it", "--format json")


def test_no_such_file(tmp_path: Path):
    with pytest.raises(ConfigurationError) as caught:
        read_results(tmp_path / "none.csv")
    reported(caught.value, "none.csv", "No such file")


WRITTEN = Path(__file__).parents[1] / "commands"
"""What VSPERF at the recorded commit wrote when nfvbed drove it."""


def test_a_line_of_a_test_with_a_guest():
    (result,) = read_results(WRITTEN / "pvp_cont.csv")
    assert (result.test, result.deployment, result.vswitch) == ("pvp_cont", "pvp", "OvsDpdkVhost")
    assert (result.guest_loopback, result.packet_size_bytes) == (("buildin",), 64)
    assert result.numbers["throughput_rx_fps"] == 23162.958
    assert "tx_rate_percent" not in result.numbers, "virtual ports have no line rate"


def test_a_line_of_the_packet_forwarder_names_no_switch():
    (result,) = read_results(WRITTEN / "phy2phy_cont-none.csv")
    assert (result.deployment, result.vswitch, result.guest_loopback) == ("p2p", None, ())
