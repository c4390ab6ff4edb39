"""A test through a double of VSPERF, from its settings to a run in the store that cannot be taken for ours."""

import sys
from pathlib import Path
from typing import Any

import pytest

from nfvbed.compare.comparison import compare
from nfvbed.compare.rows.rundata import RunData
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.errors import ConfigurationError, DeployError, NfvbedError, TotalLossError, UnsupportedError
from nfvbed.records import QualityWarning, RunRecord, Status
from nfvbed.records.results import ResultKind, TablePayload
from nfvbed.report.terminal.table import render
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.store import Store
from nfvbed.traffic.simulated.system import SimulatedSystem
from nfvbed.vsperf.conf import VsperfSettings, read_settings, with_parameters
from nfvbed.vsperf.conf.released import releases
from nfvbed.vsperf.driver import driver, ports
from nfvbed.vsperf.driver.configuration import find_case
from nfvbed.vsperf.driver.driver import run_vsperf
from nfvbed.vsperf.driver.installation import find_vsperf
from nfvbed.vsperf.driver.request import Request, check_release, check_request, planned
from tests.unit.vsperf.driver.vsperf_double import ARRANGEMENT, PROGRAM, SiteDouble, WorkspaceDouble, make_double

PROJECT = open_project(Path(__file__).parents[4])
DUMMY = "TRAFFICGEN_DUMMY_RESULTS={'frames tx': 1000, 'frames rx': 900}; TRAFFICGEN_PKT_SIZES=(64, 128)"


class Bed:
    """The double, a store, and a workspace without a host."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        program: str = PROGRAM,
        variant: str = "vsperf:OvsDpdkVhost",
    ) -> None:
        self.double = make_double(folder / "vsperf-double", program)
        (folder / "work").mkdir()
        self.workspace = WorkspaceDouble(folder / "work")
        self.store = Store.open(folder / "results.sqlite")
        self._root = folder / "root"
        ovs = folder / "ovs"
        (ovs / "usr" / "bin").mkdir(parents=True)
        for name in ports.UTILITIES:
            (ovs / "usr" / "bin" / name).write_text("")
        monkeypatch.setattr(driver, "LabMachine", SiteDouble)
        monkeypatch.setattr(driver.Workspace, "create", lambda: self.workspace)
        monkeypatch.setattr(driver, "resolve", lambda *_, **__: ARRANGEMENT)
        monkeypatch.setattr(driver, "locate", lambda: OvsBinaries(ovs))
        monkeypatch.setattr(driver, "native_binary", lambda name, root: Path(name))
        monkeypatch.setattr(driver.coredistance, "measure", lambda cores, root: type("D", (), {"one_way_ns": 30.0}))
        monkeypatch.setattr(driver, "GeneratorStarter", lambda *_: SimulatedStarter(variant))

    def request(self, test: str, trafficgen: str, parameters: str) -> Request:
        environment = {"VSPERF_DIR": str(self.double), "VSPERF_PYTHON": sys.executable}
        installation = find_vsperf(environment)
        stock = read_settings([installation.configuration], installed=installation.configuration)
        settings = with_parameters(stock, parameters)
        case = find_case(settings, stock, test)
        site, vnf = PROJECT.load_site("lab"), PROJECT.load_vnf("vloop")
        return Request(installation, settings, case, trafficgen, site, self._root, vnf)

    def run(self, test: str, trafficgen: str, parameters: str) -> RunRecord:
        request = self.request(test, trafficgen, parameters)
        check_request(request)
        return run_vsperf(request, self.store, lambda text: None)

    def data(self, run: RunRecord) -> RunData:
        host = self.store.get_blob(run.host_hash)
        cells, trials = tuple(self.store.cells(run.id)), tuple(self.store.trials(run.id))
        rigs = {cell.rig_hash: self.store.get_blob(cell.rig_hash) for cell in cells}
        return RunData(run, cells, trials, rigs, host, tuple(self.store.results(run.id)))


class SimulatedStarter:
    """Opens the simulated generator in nfvgen's place."""

    def __init__(self, variant: str) -> None:
        self.variant = variant

    def start(self, deployment: Any) -> Any:
        assert deployment.variant == self.variant
        site = SimulatedSite()
        return site.open_generator(site.deploy(PROJECT.load_variant("simulated"), "p2p"))


def test_the_dummy_generator_is_named_and_passes_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bed = Bed(tmp_path, monkeypatch)
    run = bed.run("phy2phy_cont", "Dummy", DUMMY)
    assert (run.status, run.site, run.experiment) == (Status.OK, "vsperf", "driver-vsperf-phy2phy-cont")
    data = bed.data(run)
    assert [cell.id for cell in data.cells] == ["vsperf:OvsDpdkVhost/p2p/64", "vsperf:OvsDpdkVhost/p2p/128"]
    trial = data.trials[0]
    assert (trial.engine.name, trial.engine.version) == ("vsperf-dummy", "0.2, Dummy")
    assert (trial.preset, trial.simulated, trial.directions) == (ResultKind.VSPERF, True, ())
    assert (trial.offered_load_pps, trial.forwarded_rate_pps) == (1000, 900)
    assert QualityWarning.SIMULATED in trial.warnings
    table = TablePayload.model_validate(data.results[0].payload)
    assert "sends nothing" in table.notes[0]
    comparison = compare([data])
    assert comparison.simulated
    assert all(row.mrr is None for row in comparison.rows), "no number of VSPERF is an MRR"
    assert render(comparison, 140) is not None
    assert bed.workspace.closed


@pytest.mark.parametrize("test", ["phy2phy_cont", "phy2phy_tput"])
def test_a_switch_that_returns_nothing_fails_vsperfs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, test: str):
    monkeypatch.setattr(SimulatedSystem, "forwards", lambda self, size: size <= 1518)
    bed = Bed(tmp_path, monkeypatch)
    with pytest.raises(TotalLossError) as caught:
        bed.run(test, "NfvGen", "TRAFFICGEN_DURATION=1; TRAFFICGEN_PKT_SIZES=(2000,)")
    assert caught.value.exit_code == 20
    (run,) = bed.store.runs()
    assert run.status is Status.FAILED
    assert {cell.status for cell in bed.store.cells(run.id)} <= {Status.FAILED}
    assert {result.status for result in bed.store.results(run.id)} <= {Status.FAILED}
    if test == "phy2phy_cont":
        (result,) = bed.store.results(run.id)
        assert "none of the sent frames came back" in result.reason


def test_nfvgen_answers_the_plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bed = Bed(tmp_path, monkeypatch)
    run = bed.run("phy2phy_tput", "NfvGen", "TRAFFICGEN_DURATION=1; TRAFFICGEN_PKT_SIZES=(64,)")
    data = bed.data(run)
    (trial,) = data.trials
    assert (trial.engine.name, trial.engine.version) == ("vsperf", "0.2, NfvGen")
    assert trial.core_distance_ns.before == 30.0
    (result,) = data.results
    assert (result.kind, result.test, result.first_sequence) == (ResultKind.VSPERF, "phy2phy_tput", 1)
    (row,) = TablePayload.model_validate(result.payload).rows
    assert row.label == "vsperf, NfvGen"
    assert {quantity.name: quantity.unit for quantity in row.quantities}["received"] == "frames/s"
    (fact,) = bed.store.facts(run.id)
    assert fact.detail["nfvgen"][0]["search"]["label"].startswith("rfc2544")
    assert "result_0_phy2phy_tput_p2p.csv" in fact.detail["files"]
    kept = tmp_path / "root" / "results" / "vsperf" / run.id
    assert {"vsperf.conf", "vsperf.log", "result_0_phy2phy_tput_p2p.csv"} <= {file.name for file in kept.iterdir()}
    assert bed.workspace.argv[:3] == ["nfvbed-exec", "--new-mount-ns", "--"]
    assert bed.workspace.environment["PYTHONPATH"] == ""


def test_a_vsperf_without_a_result_fails_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lost = "import sys\nif '--version' not in sys.argv:\n    print('the switch did not start')\n"
    bed = Bed(tmp_path, monkeypatch, lost)
    with pytest.raises(DeployError, match="the switch did not start"):
        bed.run("phy2phy_cont", "Dummy", DUMMY)
    (run,) = bed.store.runs()
    assert (run.status, bed.store.cells(run.id)) == (Status.FAILED, [])
    assert bed.workspace.closed


def test_what_nfvgen_refused_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bed = Bed(tmp_path, monkeypatch)
    with pytest.raises(ConfigurationError, match="no such frames"):
        bed.run("phy2phy_cont", "NfvGen", "TRAFFICGEN_PKT_SIZES=(32,)")


@pytest.mark.parametrize(
    ("test", "trafficgen", "parameters", "error", "said"),
    [
        ("overlay", "NfvGen", "", UnsupportedError, "nfvbed has no such path"),
        ("tunnel", "NfvGen", "", UnsupportedError, "nfvbed has no such path"),
        ("vpp", "NfvGen", "", UnsupportedError, "VSWITCH VppDpdkVhost"),
        ("phy2phy_cont", "Dummy", "TRAFFICGEN_DUMMY_RESULTS={}", ConfigurationError, "ask a person"),
        ("phy2phy_cont", "Dummy", "", ConfigurationError, "ask a person"),
        ("phy2phy_cont", "NfvGen", "WHITELIST_NICS=['0000:05:00.0']", UnsupportedError, "0000:05:00.0"),
    ],
)
def test_what_cannot_run_is_refused_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    test: str,
    trafficgen: str,
    parameters: str,
    error: type[NfvbedError],
    said: str,
):
    bed = Bed(tmp_path, monkeypatch)
    with pytest.raises(error, match=said):
        check_request(bed.request(test, trafficgen, parameters))


@pytest.mark.parametrize("release", releases())
def test_a_vsperf_whose_tests_have_another_form_is_refused(tmp_path: Path, release: str):
    values = {"TRAFFIC": {}} if "TRAFFIC" in releases()[release].defaults else {}
    stock = VsperfSettings(values=values, files=(tmp_path / "00_common.conf",))
    if values:
        check_release(stock)
        return
    with pytest.raises(UnsupportedError, match="before danube"):
        check_release(stock)


def test_other_generators_run_with_nics_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bed = Bed(tmp_path, monkeypatch)
    request = bed.request("phy2phy_cont", "Trex", "WHITELIST_NICS=['0000:05:00.0', '0000:05:00.1']")
    check_request(request)
    assert planned(request)["ports"] == "NICs of VSPERF"


RECORDED = Path(__file__).parents[1] / "commands" / "failed-report.log"
"""The end of VSPERF's output on a machine without names of its board, whose report it could not write."""


def test_a_failure_after_the_result_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    words = driver.complaint(RECORDED.read_text())
    assert words == "FileNotFoundError: [Errno 2] No such file or directory: '/sys/class/dmi/id/board_vendor'"
    assert driver.complaint("[INFO ] all is well\n") == ""
    bed, said = Bed(tmp_path, monkeypatch, PROGRAM + f"print({RECORDED.read_text()!r})\n"), list[str]()
    run = run_vsperf(bed.request("phy2phy_cont", "Dummy", DUMMY), bed.store, said.append)
    assert (run.status, said[-1]) == (Status.OK, f"VSPERF wrote its result, and then failed: {words}")
