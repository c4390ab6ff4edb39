"""`nfvbed run --vsperf`: tests of VSPERF, run natively."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.store import Store
from tests.refusals import refused_command
from tests.unit.vsperf.driver.vsperf_double import make_double

ROOT = Path(__file__).parents[3]
Captured = pytest.CaptureFixture[str]
FAST = ("--variant", "simulated", "--repetitions", "1", "--test-params", "TRAFFICGEN_PKT_SIZES=(64,)")


@pytest.fixture(autouse=True)
def store_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "results.sqlite"
    monkeypatch.setenv("NFVBED_STORE", str(path))
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    monkeypatch.delenv("VSPERF_DIR", raising=False)
    return path


def test_a_test_is_planned_without_being_run(capsys: Captured, store_path: Path):
    assert main(["run", "--vsperf", "phy2phy_scalability", "--dry-run", "--json"]) == 0
    captured = capsys.readouterr()
    experiment = json.loads(captured.out)["experiment"]
    assert (experiment["name"], experiment["traffic"]["flows"]) == ("vsperf-phy2phy-scalability", 8000)
    assert experiment["tests"][0]["kind"] == "search"
    assert "differs: TRAFFIC['stream_type']" in captured.err
    assert not store_path.exists()


def test_files_that_are_named_take_the_place_of_the_projects(tmp_path: Path, capsys: Captured):
    file = tmp_path / "05_own.conf"
    file.write_text("TRAFFICGEN_PKT_SIZES = (256,)\n")
    assert main(["run", "--vsperf", "phy2phy_cont", "--conf", str(file), "--dry-run", "--json"]) == 0
    experiment = json.loads(capsys.readouterr().out)["experiment"]
    # 30 s is VSPERF's default; the project's own files say 1 s.
    assert (experiment["frame_sizes"], experiment["trials"]["mrr_duration_s"]) == ([256], 30)


def test_a_test_runs_into_the_store_and_is_gone_on_with(capsys: Captured, store_path: Path):
    assert main(["run", "--vsperf", "phy2phy_cont", *FAST]) == 0
    assert "simulated: none of this was measured" in capsys.readouterr().out
    with Store.open(store_path, read_only=True) as store:
        run = store.run("latest")
        assert (run.experiment, run.status) == ("vsperf-phy2phy-cont", "ok")
    assert "no run to resume" in refused_command(capsys, 2, "run", "--vsperf", "phy2phy_cont", "--resume", "latest")
    again = refused_command(capsys, 2, "run", "--vsperf", "phy2phy_cont", "--resume", "latest", "--conf", "x.conf")
    assert "keeps its plan" in again


def test_throughput_is_searched(capsys: Captured, store_path: Path):
    assert main(["run", "--vsperf", "phy2phy_tput", *FAST]) == 0
    with Store.open(store_path, read_only=True) as store:
        (result,) = store.results(store.run("latest").id)
        assert (result.kind, result.test, result.simulated) == ("search", "search", True)


REFUSALS = [
    (10, ["--vsperf", "phy2phy_count"], "did you mean 'phy2phy_cont'"),
    (2, ["demo", "--conf", "x.conf"], "add --vsperf or --driver vsperf"),
    (2, ["--vsperf", "phy2phy_cont", "--trafficgen", "Dummy"], "--trafficgen"),
    (12, ["--vsperf", "--driver", "vsperf", "phy2phy_cont"], "VSPERF_DIR"),
    (2, ["--vsperf"], "Missing argument 'EXPERIMENT'"),
    (10, ["--vsperf", "phy2phy_cont", "--conf", "/nowhere.conf"], "/nowhere.conf"),
    (10, ["--vsperf", "phy2phy_cont", "--test-params", "TRAFFICGEN_PKT_SIZE=(64,)"], "TRAFFICGEN_PKT_SIZES"),
    (11, ["--vsperf", "overlay_p2p_cont"], "there is no such path"),
    (12, ["--driver", "vsperf", "phy2phy_cont"], "VSPERF_DIR"),
    (2, ["--driver", "vsperf", "phy2phy_cont", "--frame-size", "64"], "--test-params"),
    (2, ["--driver", "vsperf", "phy2phy_cont", "--vnf-kind", "vm"], "--vnf-kind"),
    (11, ["--vsperf", "overlay_p2p_tput"], "nfvbed run --driver vsperf"),
]


@pytest.mark.parametrize(("code", "arguments", "message"), REFUSALS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_reported(capsys: Captured, code: int, arguments: list[str], message: str):
    assert message in refused_command(capsys, code, "run", *arguments, "--dry-run")


LAB = """\
TRAFFICGEN = 'Trex'
TRAFFICGEN_TREX_LINE_SPEED_GBPS = '10'
VSWITCH_PMD_CPU_MASK = '30'
OPNFV_INSTALLER = 'Fuel'
"""


def test_notes_of_files_are_printed_and_defaults_are_counted(tmp_path: Path, capsys: Captured):
    file = tmp_path / "10_custom.conf"
    file.write_text(LAB)
    assert main(["run", "--vsperf", "phy2phy_cont", "--conf", str(file), "--dry-run"]) == 0
    said = capsys.readouterr().err
    assert f"not used: TRAFFICGEN ({file}:1): of another traffic generator" in said
    assert f"not used: TRAFFICGEN_TREX_LINE_SPEED_GBPS ({file}:2): no release of VSPERF reads it" in said
    assert "differs: VSWITCH_PMD_CPU_MASK" in said
    assert "not used: 1 setting with VSPERF's default" in said


def test_a_refusal_names_all_that_is_missing_beside_the_notes(tmp_path: Path, capsys: Captured):
    file = tmp_path / "10_custom.conf"
    file.write_text(LAB + "LLC_ALLOCATION = True\nGUEST_NIC_QUEUES = [4]\nGUEST_SMP = ['3']\n")
    said = refused_command(capsys, 11, "run", "--vsperf", "pvp_cont", "--conf", str(file), "--dry-run")
    assert f"not used: TRAFFICGEN ({file}:1)" in said
    for text in (f"LLC_ALLOCATION = True, {file}:5", f"GUEST_NIC_QUEUES = 4, {file}:6"):
        assert text in said
    assert "GUEST_SMP as many vCPUs" in said
    assert '--test-params "LLC_ALLOCATION=False"' in said


def test_a_flavor_that_is_made_for_the_run_is_in_its_plan(capsys: Captured):
    words = ["run", "--vsperf", "pvp_cont", "--dry-run", "--test-params", "GUEST_SMP=['4']; GUEST_NIC_QUEUES=[2]"]
    assert main(words) == 0
    assert "flavor vsperf-4c-2q-1024m, of this experiment: 4 vCPUs, 1024 MiB in hugepages" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    (flavor,) = json.loads(capsys.readouterr().out)["experiment"]["flavors"]
    assert (flavor["vcpus"], flavor["queues"], flavor["cpu_policy"]) == (4, 2, "shared")


def test_a_test_is_fitted_to_a_cloud_and_its_flavor_goes_there(capsys: Captured):
    words = ["run", "--vsperf", "pvp_cont", "--dry-run", "--site", "devcloud", "--test-params"]
    assert main([*words, "GUEST_SMP=['4']; GUEST_NIC_QUEUES=[4]; GUEST_MEMORY=['1536']"]) == 0
    said = capsys.readouterr().out
    assert "flavor vsperf-4c-4q-1536m, of this experiment" in said
    assert "on site devcloud: no ceilings" in said
    assert "as many queues as it has vCPUs" not in said
    assert main([*words, "GUEST_SMP=['4']; GUEST_NIC_QUEUES=[2]"]) == 0
    assert "Nova gives a port of flavor vsperf-4c-2q-1024m as many queues as it has vCPUs" in capsys.readouterr().out


def test_a_vsperf_of_the_users_own_has_its_own_settings(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
):
    folder = make_double(tmp_path / "vsperf-double")
    (folder / "conf" / "13_newer.conf").write_text("SETTING_OF_TOMORROW = 5\n")
    monkeypatch.setenv("VSPERF_DIR", str(folder))
    monkeypatch.setenv("VSPERF_PYTHON", sys.executable)
    arguments = ["run", "--driver", "vsperf", "phy2phy_cont", "--dry-run"]
    assert main(arguments) == 0
    assert "trafficgen: NfvGen" in capsys.readouterr().out
    own = tmp_path / "10_own.conf"
    own.write_text("SETTING_OF_TOMORROW = 6\nSETTING_OF_YESTERDAY = 7\n")
    assert "SETTING_OF_YESTERDAY" in refused_command(capsys, 10, *arguments, "--conf", str(own))


def test_unknown_names_are_reported_with_file_and_line(tmp_path: Path, capsys: Captured):
    file = tmp_path / "05_own.conf"
    file.write_text("TRAFFIC = {}\n\nTRAFFICGEN_DURATIO = 5\n")
    said = refused_command(capsys, 10, "run", "--vsperf", "phy2phy_cont", "--conf", str(file))
    assert f"{file}:3" in said
    assert "did you mean 'TRAFFICGEN_DURATION'?" in said
