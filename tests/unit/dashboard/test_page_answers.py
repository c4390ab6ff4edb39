"""What pages answer in their first line."""

import re
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.results.doctor import DoctorReport
from nfvbed.records.findings import Finding, State
from nfvbed.report.page.page import templates
from nfvbed.store import Store
from tests.dashboard_runs import ELSEWHERE, two_variants, with_many, with_series
from tests.diff_runs import LATER, before_and_after
from tests.sample_records import RUN

FASTEST = "ovs-dpdk forwards most, at the traffic point measured: 1.26 times the rate of ovs-new."


@pytest.fixture(scope="module", name="answers")
def _answers(tmp_path_factory):
    path: Path = tmp_path_factory.mktemp("answers") / "nfvbed.sqlite"
    two_variants(path)
    with_many(path)
    with_series(path)
    before_and_after(path)
    with Store.open(path, read_only=True, migrated=False) as store:
        client = TestClient(make_app(store, Access(hosts=("localhost",))), base_url="http://localhost")

        yield lambda address: client.get(address).text


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"/diff?before=baseline&after={LATER}", "ovs-dpdk, p2p, 64 B: ▼ lower -14.9%; 1 same, of 2 traffic points."),
        (f"/runs/{RUN}/doctor", "Variants: 1 ready, 1 unsupported; absent: NIC."),
        ("/trend", "No open steps in 7 settings; 6 have fewer than the 6 runs that a step needs."),
        ("/trend?simulated=1", "1 open step in 1 setting; 1 newest run lies apart, unconfirmed."),
        ("/published", "None of 20 published tables was measured here."),
        ("/compare?runs=latest", "At most 8 settings are compared at once."),
        (f"/compare?runs={ELSEWHERE}&runs={RUN}&variants=ovs-dpdk", "No comparison: rates of 2 hosts."),
        ("/", f"On another host: {FASTEST}"),
        ("/runs", "6 runs: 6 ok."),
        ("/runs?find=baseline", "1 run found: 1 ok."),
        ("/runs?find=nothing-has-this", "No run found."),
        ("/trend?variant=vpp", "No such setting was measured by two runs."),
        ("/runs/none", "There is no run 'none'"),
    ],
)
def test_a_page_begins_with_its_answer(answers, address: str, said: str):
    [line, *_] = re.findall(r'<p class="headline">(.*?)</p>', answers(address), re.DOTALL)
    assert unescape(line) == said


@pytest.mark.parametrize("address", ["/recommend", f"/runs/{RUN}/doctor", "/trend", "/runs", "/published"])
def test_the_answer_is_above_forms_and_tables(answers, address: str):
    _, main = answers(address).split("<main", 1)
    before, _ = main.split('<p class="headline">', 1)
    assert "<table" not in before and "<form" not in before


def test_variants_are_above_what_the_doctor_found_of_the_host(answers):
    page = answers(f"/runs/{RUN}/doctor")
    assert page.index('id="variants"') < page.index('id="findings"')


def test_a_command_ends_its_lines_at_its_spaces(answers):
    """Browsers break after a hyphen, too: each word of it is one that is not broken."""
    [command, *_] = re.findall(r'<code class="command">(.*?)</code>', answers("/recommend"), re.DOTALL)
    words = re.findall("<span>(.*?)</span>", command)
    assert words[:3] == ["nfvbed", "run", "demo"] and "--variant" in words
    assert re.sub("<.*?>", "", command) == " ".join(words)


@pytest.mark.parametrize(("days", "said"), [(0.0, "0 min"), (0.02, "29 min"), (0.5, "12 h"), (3.0, "3 d")])
def test_an_age_is_said_in_minutes_hours_or_days(days: float, said: str):
    links = templates("nfvbed.dashboard").get_template("links.html.j2").module
    assert str(links.age(days)) == said


def test_a_doctor_that_says_nothing_has_no_answer_and_many_absent_topics_are_counted():
    assert not DoctorReport().headline
    lacking = tuple(Finding(topic=f"t{n}", state=State.ABSENT, summary="", probed="") for n in range(7))
    assert DoctorReport(findings=lacking).headline == "absent: t0, t1, t2, t3, t4 and 2 more"
