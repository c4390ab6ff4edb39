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
from nfvbed.store import Store
from tests.dashboard_runs import two_variants, with_many, with_series
from tests.diff_runs import LATER, before_and_after
from tests.sample_records import RUN


@pytest.fixture(scope="module", name="answers")
def _answers(tmp_path_factory):
    path: Path = tmp_path_factory.mktemp("answers") / "nfvbed.sqlite"
    two_variants(path)
    with_many(path)
    with_series(path)
    before_and_after(path)
    with Store.open(path, read_only=True, migrated=False) as store:
        client = TestClient(make_app(store, Access(hosts=("localhost",))), base_url="http://localhost")

        def answer(address: str) -> str:
            [line, *_] = re.findall(r'<p class="headline">(.*?)</p>', client.get(address).text, re.DOTALL)
            return unescape(line)

        yield answer


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"/diff?before=baseline&after={LATER}", "ovs-dpdk, p2p, 64 B: ▼ lower -14.9%; 1 same, of 2 traffic points."),
        (f"/runs/{RUN}/doctor", "Variants: 1 ready, 1 unsupported; absent: NIC."),
        ("/trend", "No open steps in 7 settings; 6 have fewer than the 6 runs that a step needs."),
        ("/trend?simulated=1", "1 open step in 1 setting; 1 newest run lies apart, unconfirmed."),
        ("/published", "None of 20 published tables was measured here."),
        ("/compare?runs=latest", "At most 8 settings are compared at once."),
    ],
)
def test_a_page_begins_with_its_answer(answers, address: str, said: str):
    assert answers(address) == said


def test_a_doctor_that_says_nothing_has_no_answer_and_many_absent_topics_are_counted():
    assert not DoctorReport().headline
    lacking = tuple(Finding(topic=f"t{n}", state=State.ABSENT, summary="", probed="") for n in range(7))
    assert DoctorReport(findings=lacking).headline == "absent: t0, t1, t2, t3, t4 and 2 more"
