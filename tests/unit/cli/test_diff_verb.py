"""`nfvbed diff`: how sides are named, and what a screen, JSON and the exit code say."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nfvbed.cli.diff import command
from nfvbed.cli.main import main
from nfvbed.errors import UnknownNameError, UsageError
from tests.diff_runs import BEFORE, ELSEWHERE, LATER, before_and_after


@pytest.fixture(scope="module", name="measured")
def _measured(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("diff") / "nfvbed.sqlite"
    before_and_after(path)
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
        said(measured, f"{BEFORE}:pmd_cores=2", "ovs-new")
    with pytest.raises(UsageError, match="itself"):
        said(measured, BEFORE, "baseline")


def test_runs_of_other_hosts_are_not_comparable(measured: Path, capsys: pytest.CaptureFixture[str]):
    status = main(["diff", f"{BEFORE}:ovs-dpdk", f"{ELSEWHERE}:ovs-dpdk", "--store", str(measured)])
    assert status == 40 and "different hosts" in capsys.readouterr().err
