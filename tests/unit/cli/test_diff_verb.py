"""`nfvbed diff`: how sides are named, and what a screen, JSON and the exit code say."""

import dataclasses
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nfvbed.cli.diff import command
from nfvbed.cli.main import main
from nfvbed.compare.rows.rundata import RunData
from nfvbed.errors import UnknownNameError, UsageError
from nfvbed.records import CellRole
from nfvbed.records.annotations import Mark
from nfvbed.store import Store
from tests.sample_records import CEILINGS, HOST, OVS, RUN, Scenario, build
from tests.stored_runs import put

LATER, ELSEWHERE = RUN[:-1] + "2", RUN[:-1] + "3"
ROUNDS = 8


def run_of(run: str, ratio: float, **around: str) -> RunData:
    rate = OVS.capacity[64][0]
    other = dataclasses.replace(OVS, name="ovs-new", config="2", capacity={64: (rate * 0.8, rate * 0.8)})
    ovs = dataclasses.replace(OVS, capacity={64: (rate * ratio, rate * ratio)})
    reference = dataclasses.replace(CEILINGS[2], capacity={64: (16.5e6, 16.5e6)})
    data = build(
        Scenario(run=run, systems=(ovs, other, reference), rounds=ROUNDS, far_rounds=(), changing=(), **around)
    )
    return dataclasses.replace(data, host=data.host | {"is": around.get("host", HOST)})


def with_options(store: Store, data: RunData) -> RunData:
    """Return a run whose variants have stored configurations."""
    cells = []
    for cell in data.cells:
        options = {"dataplane": "ovs-dpdk", "pmd_cores": 2 if cell.variant == "ovs-new" else 1}
        blob = store.put_blob("variant", {"variant": {"name": cell.variant, "options": options}})
        cells.append(
            cell.model_copy(update={"config_hash": blob if cell.role is CellRole.SUBJECT else cell.config_hash})
        )
    return dataclasses.replace(data, cells=tuple(cells))


@pytest.fixture(scope="module", name="measured")
def _measured(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("diff") / "nfvbed.sqlite"
    with Store.open(path) as store:
        put(store, run_of(RUN, 1.0))
        put(store, with_options(store, run_of(LATER, 0.85, seed=2)))
        put(store, run_of(ELSEWHERE, 1.0, host="b" * 64, seed=3))
        store.say(RUN, {Mark.LABEL: "baseline"}, "test")
    return path


def said(path: Path, *arguments: str) -> str:
    found = CliRunner(env={"COLUMNS": "100"}).invoke(
        command, ["--store", str(path), *arguments], catch_exceptions=False
    )
    assert found.exit_code == 0
    return found.output


def test_runs_are_said_not_to_be_interleaved_and_judged_by_the_reference(measured: Path):
    text = said(measured, "baseline:ovs-dpdk", f"{LATER}:ovs-dpdk")
    assert "Not interleaved" in text and "reference:vhost-user" in text
    assert "▼ lower -1" in text and "×0.85" in text
    assert max(map(len, text.splitlines())) <= 100


def test_variants_of_one_run_are_judged_by_rounds(measured: Path):
    text = said(measured, f"{LATER}:ovs-dpdk", f"{LATER}:ovs-new")
    assert "in the same rounds" in text and "Not interleaved" not in text


def test_variants_without_a_run_are_of_the_newest_that_has_both(measured: Path):
    found = json.loads(said(measured, "ovs-dpdk", "ovs-new", "--json"))
    assert found["before"] == {"run": ELSEWHERE, "variant": "ovs-dpdk"}
    assert found["after"] == {"run": ELSEWHERE, "variant": "ovs-new"} and found["interleaved"]


def test_options_name_the_variant_that_was_measured_with_them(measured: Path):
    text = said(measured, "pmd_cores=1", f"{LATER}:pmd_cores=2")
    assert "ovs-dpdk (before) and ovs-new (after)" in text and "variant.options.pmd_cores: 1 -> 2" in text


def test_a_name_that_nothing_has_is_refused(measured: Path):
    with pytest.raises(UnknownNameError, match="no run or measured variant 'vpp'"):
        said(measured, "vpp", "ovs-new")
    with pytest.raises(UnknownNameError, match="pmd_cores=2"):
        said(measured, f"{RUN}:pmd_cores=2", "ovs-new")
    with pytest.raises(UsageError, match="itself"):
        said(measured, RUN, "baseline")


def test_runs_of_other_hosts_are_not_comparable(measured: Path, capsys: pytest.CaptureFixture[str]):
    status = main(["diff", f"{RUN}:ovs-dpdk", f"{ELSEWHERE}:ovs-dpdk", "--store", str(measured)])
    assert status == 40 and "different hosts" in capsys.readouterr().err
