"""A store whose names end the library that draws, and a drawing that dies: the dashboard goes on."""

import base64
import dataclasses
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.results.pictures import NOT_DRAWN, FigureRenderer
from nfvbed.errors import DrawingError
from nfvbed.patience import patient
from nfvbed.report.drawing import DRAWING
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.stored_runs import put
from tests.unit.dashboard.conftest import NOW

NAME = "ovs\x1b[2J\u202e\x00"
LOOSE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


@pytest.fixture(name="hostile")
def _hostile(tmp_path: Path) -> Iterator[TestClient]:
    with Store.open(tmp_path / "x.sqlite") as store:
        put(store, build(Scenario(systems=(BRIDGE, dataclasses.replace(OVS, name=NAME)), common_load=True)))
    with Store.open(tmp_path / "x.sqlite", read_only=True) as store:
        app = make_app(store, Access(hosts=("localhost",)), lambda: NOW)
        yield TestClient(app, base_url="http://localhost:8080", raise_server_exceptions=False)


@pytest.mark.parametrize("query", ["", "?theme=light", "?theme=dark"], ids=["file", "light", "dark"])
def test_figures_of_such_a_store_are_drawn(hostile: TestClient, query: str):
    answer = hostile.get(f"/compare/figures/rate.svg{query}")
    assert answer.status_code == 200
    assert "ovs\ufffd[2J\ufffd\ufffd" in answer.text
    assert not LOOSE.search(answer.text)
    assert hostile.get("/compare/figures/rate.png").content.startswith(b"\x89PNG")


@pytest.mark.parametrize("address", ["/", "/compare", f"/runs/{RUN}", "/compare?export=1", "/compare/rows.csv"])
def test_pages_and_tables_of_it_show_escapes(hostile: TestClient, address: str):
    answer = hostile.get(address)
    assert answer.status_code == 200
    assert not LOOSE.search(answer.text)


def test_a_drawing_that_is_killed_costs_one_picture(client: TestClient, monkeypatch: pytest.MonkeyPatch):
    address = f"/compare/figures/cpu.svg?runs={RUN}"
    DRAWING.begin()
    drawing = DRAWING.pid
    assert drawing is not None
    os.kill(drawing, signal.SIGSTOP)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(client.get(address, headers={"accept": "*/*"})))
    thread.start()
    time.sleep(0.5)
    assert client.get("/").status_code == 200, "pages are served meanwhile"
    os.kill(drawing, signal.SIGKILL)
    thread.join(patient(60))
    assert [answer.status_code for answer in answers] == [500]
    assert "it was ended by SIGKILL" in answers[0].text
    again = client.get(address)
    assert (again.status_code, again.text[:4]) == (200, "<svg")


def test_a_saved_page_says_which_figure_could_not_be_drawn(client: TestClient, monkeypatch: pytest.MonkeyPatch):
    def dies(pictures: FigureRenderer, spec: object, form: object) -> bytes:
        raise DrawingError("a figure could not be drawn")

    monkeypatch.setattr(FigureRenderer, "draw", dies)
    page = client.get(f"/compare?runs={RUN}&export=1")
    assert page.status_code == 200
    assert base64.b64encode(NOT_DRAWN).decode() in page.text
    assert b"could not be drawn" in NOT_DRAWN
