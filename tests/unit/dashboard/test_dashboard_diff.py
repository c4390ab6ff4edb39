"""Before and after on a page: the same records and words as `nfvbed diff`, and sides that are found by searching."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from nfvbed.cli.diff import command
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.store import Store
from tests.diff_runs import BEFORE, ELSEWHERE, LATER, before_and_after
from tests.unit.dashboard.conftest import NOW

BOTH = {"before": "baseline:ovs-dpdk", "after": f"{LATER}:ovs-dpdk"}


@pytest.fixture(scope="module", name="measured")
def _measured(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("diff") / "nfvbed.sqlite"
    before_and_after(path)
    return path


@pytest.fixture(scope="module", name="reader")
def _reader(measured: Path):
    with Store.open(measured, read_only=True, migrated=False) as store:
        yield TestClient(make_app(store, Access(hosts=("localhost",)), lambda: NOW), base_url="http://localhost")


def words(text: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_the_answer_is_that_of_the_command(reader: TestClient, measured: Path):
    said = CliRunner().invoke(command, ["--store", str(measured), *BOTH.values(), "--json"], catch_exceptions=False)
    assert reader.get("/api/diff", params=BOTH).json() == json.loads(said.output)


def test_the_page_has_the_words_of_the_command(reader: TestClient, measured: Path):
    shown = words(reader.get("/diff", params=BOTH).text)
    screen = CliRunner(env={"COLUMNS": "100"}).invoke(command, ["--store", str(measured), *BOTH.values()])
    head, how = re.match(r"(.*?\(after\)) .*?(Not interleaved: .*?\.) ", " ".join(screen.output.split())).groups()
    assert head in shown and how in shown
    (verdict,) = re.findall(r"▼ lower \S+ %|▼ lower \S+", screen.output)
    assert verdict in shown
    assert "reference:vhost-user" in shown and "(8 and 8 visits)" in shown
    assert "relative to reference:vhost-user" in shown and "stood still" in shown


def test_two_variants_of_one_run_need_no_reference(reader: TestClient):
    shown = words(reader.get("/diff", params={"before": "ovs-dpdk", "after": "ovs-new"}).text)
    assert "in the same rounds of run" in shown and "Not interleaved" not in shown and "not needed" in shown


def test_runs_of_other_hosts_are_shown_without_a_verdict(reader: TestClient):
    shown = words(reader.get("/diff", params={"before": f"{BEFORE}:ovs-dpdk", "after": f"{ELSEWHERE}:ovs-dpdk"}).text)
    assert "Nothing here can be compared : measure both in one run: nfvbed gate" in shown
    assert "✕ not comparable" in shown and "different hosts" in shown


def test_words_that_name_no_run_offer_those_that_have_them(reader: TestClient):
    text = reader.get("/diff", params={"before": "base:ovs-dpdk", "after": BOTH["after"]}).text
    (href,) = re.findall(r'<li><a href="(/diff\?[^"]+)">', text)
    assert f"before={BEFORE}%3Aovs-dpdk" in href and "There is no run" in text
    assert "▼ lower" in reader.get(unescape(href)).text


def test_a_run_is_offered_others_of_its_experiment(reader: TestClient):
    page = reader.get(f"/runs/{LATER}").text
    (href,) = re.findall(r'href="(/diff\?[^"]+)"', page)
    offered = re.findall(r'<li><a href="/diff\?before=([^&"]+)', reader.get(unescape(href)).text)
    assert offered == [ELSEWHERE, BEFORE]


def test_a_comparison_of_two_runs_leads_to_before_and_after(reader: TestClient):
    page = reader.get(f"/compare?runs={LATER}&runs={BEFORE}").text
    assert f"/diff?before={BEFORE}&amp;after={LATER}&amp;" in page


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"before": "none", "after": LATER}, 404),
        ({"before": BEFORE, "after": "baseline"}, 400),
        ({"before": BEFORE, "after": LATER, "margin": "2"}, 422),
        ({"before": BEFORE}, 422),
    ],
    ids=["unknown", "itself", "margin", "one side"],
)
def test_what_cannot_be_answered_is_a_problem_of_the_api(reader: TestClient, asked: dict[str, str], status: int):
    answer = reader.get("/api/diff", params=asked)
    assert answer.status_code == status and answer.headers["content-type"] == "application/problem+json"


def test_a_refused_diff_leaves_the_form(reader: TestClient):
    text = reader.get("/diff", params={"before": BEFORE, "after": "baseline"}).text
    assert "A run has no difference to itself" in text and f'value="{BEFORE}"' in text
