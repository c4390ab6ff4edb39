"""Results of others: read with their source, refused where they are none, and never a measurement of nfvbed's."""

import hashlib
import json
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.errors import ConfigurationError
from nfvbed.foreign.reading import read_foreign
from nfvbed.foreign.records import Tool

RECORDED = Path(__file__).parent / "recorded"
NDR, LOAD = (RECORDED / f"nfvbench-5.0.4-{name}.json" for name in ("ndr", "load"))
VSPERF_LINES = (
    "type,packet_size,id,deployment,throughput_rx_fps,tx_rate_fps,frame_loss_percent,start_time,vswitch\n"
    "rfc2544_throughput,64,phy2phy_tput,p2p,3500000.5,3500001,0.0,2026-01-31 12:00:00,OvsDpdkVhost\n"
    "rfc2544_throughput,128,phy2phy_tput,p2p,N/A,3000000,0.0,2026-01-31 12:05:00,OvsDpdkVhost\n"
)


def test_ndr_of_nfvbench_with_what_it_warns_of():
    [found] = read_foreign(NDR)
    assert (found.tool, found.tool_version, found.quantity) == (Tool.NFVBENCH, "5.0.4.dev29", "ndr")
    assert (found.value, found.unit, found.frame_size) == (74404760, "frames/s", "64")
    assert found.test == "EXT x 1, 128 flows"
    assert "sent 16701232 frames/s" in found.remark and "significant difference" in found.remark
    assert found.sha256 == hashlib.sha256(NDR.read_bytes()).hexdigest()
    assert found.place == "benchmarks.network.service_chain.EXT.result.result.64.ndr"


def test_a_given_load_of_nfvbench():
    [found] = read_foreign(LOAD)
    assert (found.quantity, found.value) == ("received", 11692596)
    assert found.remark.startswith("asked for 11735906")


def test_lines_of_vsperf_and_none_where_nothing_was_received(tmp_path: Path):
    file = tmp_path / "result_phy2phy_tput.csv"
    file.write_text(VSPERF_LINES)
    [found] = read_foreign(file)
    assert (found.tool, found.test, found.place, found.value) == (Tool.VSPERF, "phy2phy_tput", "line 2", 3500000.5)
    assert (found.system, found.measured_at) == ("p2p, OvsDpdkVhost", "2026-01-31 12:00:00")


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[1]", '{"nfvbench_version": "5", "benchmarks": {}}', "{" * 100_000, "not,a,result\n1,2,3\n", "\x00"],
)
def test_what_is_no_result_of_theirs_is_refused(tmp_path: Path, content: str):
    file = tmp_path / "x"
    file.write_text(content)
    with pytest.raises(ConfigurationError):
        read_foreign(file)


def test_names_that_would_control_a_terminal_are_refused(tmp_path: Path):
    file = tmp_path / "x.json"
    document = json.loads(NDR.read_text()) | {"nfvbench_version": "\x1b[31m5"}
    file.write_text(json.dumps(document))
    with pytest.raises(ConfigurationError, match="no result of another tool"):
        read_foreign(file)


def test_they_are_shown_with_what_they_are_not(capsys: pytest.CaptureFixture[str]):
    assert main(["foreign", str(NDR), str(LOAD)]) == 0
    said = capsys.readouterr().out
    assert "74,404,760 frames/s" in said and "they are compared with nothing" in said
    assert main(["foreign", str(NDR), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["tool"] == "NFVbench"
    assert main(["foreign", str(NDR), "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("tool,tool_version,file,sha256,")


def test_an_import_of_one_is_refused_and_says_what_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["--store", str(tmp_path / "x.sqlite"), "import", str(NDR)]) == 10
    assert "nfvbed foreign FILE" in capsys.readouterr().err
