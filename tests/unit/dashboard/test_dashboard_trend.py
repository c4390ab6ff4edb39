"""Trend: the list, one setting with a known step, its files; a step is acknowledged, with a reason and until a date."""

import csv
import io
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.audit import Audit, Kind
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.operations import Operations
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.store import Store
from tests.dashboard_runs import KNOWN_STEP, SERIES, STEP_AT, STEPPED, with_series

HERE = "http://localhost"
NOW = datetime(2026, 1, 4, 3, 4, 5, tzinfo=UTC)
PAGE = f"/trend?{urlencode({'setting': STEPPED})}"
API = f"/api/trend/series?{urlencode({'setting': STEPPED})}"


@pytest.fixture(scope="module", name="measured")
def _measured(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("series") / "nfvbed.sqlite"
    with_series(path)
    return path


@pytest.fixture(scope="module", name="reader")
def _reader(measured: Path):
    with Store.open(measured, read_only=True, migrated=False) as store:
        yield TestClient(make_app(store, Access(hosts=("localhost",)), lambda: NOW), base_url=HERE)


class Desk:
    """A dashboard that changes things, over a store of its own; its clock can be put forward."""

    def __init__(self, path: Path, **options: object) -> None:
        self.now = NOW
        self.store = Store.open(path, read_only=True, migrated=False)
        self.audit = Audit(path.parent / "state" / "audit.jsonl")
        jobs = Jobs(path.parent / "jobs", path.parent, str(path), self.audit, frozenset({0}))
        operations = Operations(open_project(None), self.audit, jobs)
        access = Access(hosts=("localhost",), **{"operate": True, "user_of": lambda scope: 0, **options})
        app = make_app(self.store, access, lambda: self.now, operations)
        self.client = TestClient(app, base_url=HERE, follow_redirects=False)

    def send(self, **changed: str):
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.client.get(PAGE).text)
        form = {"csrf": found[1] if found else "", "setting": STEPPED, "run": SERIES[STEP_AT]}
        form |= {"reason": "the <new> kernel", "expires": "2026-02-01", **changed}
        return self.client.post("/trend/acknowledge", data=form, headers={"origin": HERE})


@pytest.fixture(name="desk")
def _desk(measured: Path, tmp_path: Path):
    path = tmp_path / "nfvbed.sqlite"
    shutil.copy(measured, path)
    desk = Desk(path)
    yield desk
    desk.store.close()


def test_the_step_is_in_the_list_and_the_newest_run_is_no_alarm(reader: TestClient):
    (line,) = reader.get("/api/trend?variant=simulated&simulated=1").json()["settings"]
    assert (line["name"], line["runs"], line["unit"]) == (STEPPED, len(SERIES), "frames/s")
    assert line["last"]["step"]["run"] == SERIES[STEP_AT]
    assert line["last"]["step"]["ratio"] == pytest.approx(KNOWN_STEP, rel=0.03)
    assert line["suspected"]["run"] == SERIES[-1]
    page = reader.get("/trend?simulated=1").text
    assert f'href="/trend?setting={quote(STEPPED, safe="/")}"' in page
    assert "unconfirmed: one more run shows" in page and "SIMULATED" in page


def test_what_is_filtered_out_is_not_listed(reader: TestClient):
    assert reader.get("/api/trend?variant=vpp").json()["settings"] == []
    page = reader.get("/trend?variant=vpp").text
    assert "No such setting was measured by two runs." in page
    assert '<option value="vpp" selected>' in page


def test_a_setting_has_its_steps_and_what_changed_there(reader: TestClient):
    found = reader.get(API).json()
    (seen,) = found["trend"]["steps"]
    assert seen["step"]["confirmed_by"] == SERIES[STEP_AT + 1]
    assert seen["changed"] == ["kernel: 6.18.0 -> 6.18.1"], "the series goes on with another kernel"
    assert [change["run"] for change in found["trend"]["changes"]] == [SERIES[4], SERIES[STEP_AT]]
    page = reader.get(PAGE).text
    assert found["headline"] in page and "kernel: 6.18.0 -&gt; 6.18.1" in page
    assert f"/runs/{SERIES[0]}/why?cell=simulated%2Fp2p%2F64" in page
    assert "suspected ▼" in page and "confirms the step" in page
    assert "<form" not in page, "a reader has nothing to send"


def test_figures_of_a_series_are_those_of_a_comparison(reader: TestClient):
    found = reader.get(API).json()["trend"]["series"]["measured"][3]
    (row,) = reader.get(f"/api/compare?runs={SERIES[3]}").json()["comparison"]["rows"]
    assert found["value"] == pytest.approx(row["mrr"]["median_pps"], abs=2)


def test_figure_and_rows_are_files(reader: TestClient):
    found = reader.get(API).json()
    light = reader.get(found["figure"]["svg"])
    assert light.headers["content-type"] == "image/svg+xml" and light.text.startswith("<svg")
    assert "#e8eaed" in reader.get(found["figure"]["svg"] + "&theme=dark").text
    assert reader.get(found["figure"]["png"]).content.startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(reader.get(found["csv"]).text)))
    assert [row["run"] for row in rows] == list(SERIES)
    assert rows[STEP_AT]["changed"] == "kernel: 6.18.0 -> 6.18.1" and rows[0]["simulated"] == "1"


def test_a_setting_that_is_not_there_is_not_found(reader: TestClient):
    answer = reader.get("/api/trend/series?setting=none")
    assert answer.status_code == 404 and "1 settings" in answer.json()["observed"]
    assert reader.get("/trend?setting=none").status_code == 404
    assert reader.get("/api/trend/series").status_code == 422
    assert reader.get(f"/trend?setting={'x' * 401}").status_code == 422


def test_a_step_is_acknowledged_until_its_date(desk: Desk):
    answer = desk.send()
    assert answer.status_code == 303 and answer.headers["location"] == f"{PAGE}#steps"
    page = desk.client.get(PAGE).text
    assert "acknowledged until 2026-02-01" in page and "the &lt;new&gt; kernel (root, 2026-01-04)" in page
    (line,) = desk.client.get("/api/trend?simulated=1").json()["settings"]
    assert line["last"]["acknowledged"]["reason"] == "the <new> kernel"
    desk.now = datetime(2026, 2, 1, 0, 0, 1, tzinfo=UTC)
    assert "acknowledged until" not in desk.client.get(PAGE).text
    (entry,) = desk.audit.newest(5)
    assert (entry.action, entry.outcome) == ("acknowledge a step", "done") and STEPPED in entry.asked


def test_a_program_acknowledges_with_its_token(measured: Path, tmp_path: Path):
    path = tmp_path / "nfvbed.sqlite"
    shutil.copy(measured, path)
    desk = Desk(path, token="0" * 32)
    word = {"setting": STEPPED, "run": SERIES[STEP_AT], "reason": "known", "expires": "2026-02-01"}
    sent = {"json": word, "headers": {"authorization": f"Bearer {'0' * 32}"}}
    answer = desk.client.post("/api/trend/acknowledgements", **sent)
    assert answer.status_code == 201 and answer.json()["expires_at"] == "2026-02-01T00:00:00.000+00:00"
    assert desk.client.post("/api/trend/acknowledgements", json=word).status_code in (401, 403)
    desk.store.close()


@pytest.mark.parametrize(
    ("changed", "status", "what"),
    [
        ({"reason": "  "}, 400, "with a reason"),
        ({"reason": "x" * 501}, 400, "with a reason"),
        ({"expires": "2026-01-04"}, 400, "ends on a day to come"),
        ({"expires": "2027-06-01"}, 400, "ends on a day to come"),
        ({"expires": "soon"}, 400, "ends on a day to come"),
        ({"run": SERIES[3]}, 404, "no confirmed step there"),
        ({"setting": "none"}, 404, "no series of this setting"),
        ({"csrf": "0" * 64}, 403, "not come from a page"),
    ],
)
def test_what_cannot_be_acknowledged_is_refused_and_nothing_is_stored(desk: Desk, changed, status, what):
    answer = desk.send(**changed)
    assert answer.status_code == status and what in answer.text
    assert desk.store.acknowledgements() == []
    kind = Kind.REFUSAL if status == 403 else Kind.ACT
    assert desk.audit.newest(5, kind)[0].outcome != "done"


def test_a_store_that_can_only_be_read_shows_acknowledgements_and_has_no_form(desk: Desk, tmp_path: Path):
    desk.send()
    copy = tmp_path / "copied" / "nfvbed.sqlite"
    copy.parent.mkdir()
    desk.store.close()
    shutil.copy(tmp_path / "nfvbed.sqlite", copy)
    copy.chmod(0o444)
    other = Desk(copy)
    page = other.client.get(PAGE).text
    assert "acknowledged until 2026-02-01" in page
    assert 'action="/trend/acknowledge"' not in page and "This store can only be read" in page
    csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', page)
    assert csrf is None
    other.store.close()


def test_a_step_is_acknowledged_while_a_run_writes(desk: Desk):
    with Store.open(desk.store.location.path):
        assert desk.store.writer() is not None
        assert desk.send().status_code == 303
    assert len(desk.store.acknowledgements()) == 1


def test_a_setting_is_saved_as_one_file_without_a_form(desk: Desk):
    answer = desk.client.get(f"{PAGE}&export=1")
    assert answer.headers["content-disposition"] == 'attachment; filename="nfvbed-trend-simulated-p2p-64.html"'
    assert "<form" not in answer.text and "data:image/svg+xml;base64," in answer.text
    assert 'href="/' not in answer.text
