"""Any text as a name: refused where it comes in, or drawn, written and printed without a control character."""

import dataclasses
import io
import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nfvbed.characters import drawable, shown, unfit
from nfvbed.cli.console import Console
from nfvbed.cli.main import main
from nfvbed.compare.comparison import compare
from nfvbed.errors import ConfigurationError
from nfvbed.report.context import ReportContext
from nfvbed.report.csv.export import to_csv
from nfvbed.report.figures.catalogue import drawings, to_svg
from nfvbed.report.page.page import render_page
from nfvbed.report.terminal.screen import ScreenContext, screen
from nfvbed.report.terminal.table import render
from nfvbed.store import Store
from nfvbed.store.transfer import read_run
from tests.sample_records import BRIDGE, OVS, Scenario, build
from tests.stored_runs import put

ANY = st.text(st.characters(codec=None, categories=None), min_size=1, max_size=20).filter(str.strip)
HOSTILE = "ovs\x1b[2J\x00\u202e\ufffe[red]=1"
LOOSE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def of(name: str, **changed: Any):
    return build(Scenario(systems=(BRIDGE, dataclasses.replace(OVS, name=name)), rounds=2, **changed))


def printed(comparison: Any) -> str:
    file = io.StringIO()
    console = Console(file=file, width=200, force_terminal=False)
    console.print(render(comparison, 200))
    for line in screen(comparison, ScreenContext(), 200):
        console.print(line, soft_wrap=True)
    return file.getvalue()


@given(ANY)
@settings(derandomize=True, deadline=None, max_examples=25)
def test_any_name_is_refused_or_shown_without_control(name: str):
    data = of(name)
    document = {
        "run": data.run.model_dump(mode="json"),
        "cells": [cell.model_dump(mode="json") for cell in data.cells],
        "trials": [],
        "facts": [],
        "blobs": {},
    }
    try:
        read_run(json.dumps(document), "run.json")
    except ConfigurationError:
        assert unfit(name)
    else:
        assert not unfit(name)
    # And where it is stored already:
    comparison = compare([data])
    assert not LOOSE.search(printed(comparison).replace("\n", ""))
    assert not LOOSE.search(to_csv(comparison).replace("\n", ""))
    for drawing in drawings(comparison).values():
        assert not NOT_IN_XML.search(json.dumps(drawable(drawing.spec), ensure_ascii=False))


def test_a_hostile_name_is_drawn_and_on_the_page():
    data = of(HOSTILE, common_load=True)
    comparison = compare([data])
    context = ReportContext(comparison, (data.run,), rigs=data.rigs)
    for name, drawing in drawings(comparison).items():
        assert not NOT_IN_XML.search(to_svg(drawing.spec).decode()), name
    page = render_page(context)
    assert not LOOSE.search(page.replace("\n", ""))
    assert shown("ovs\x1b[2J") in page


def test_a_report_of_such_a_store_is_written(tmp_path: Path, capsys):
    with Store.open(tmp_path / "x.sqlite") as store:
        put(store, of(HOSTILE))
    argv = ["--store", str(tmp_path / "x.sqlite"), "report", "--output", str(tmp_path / "out")]
    assert main(argv) == 0
    assert "not drawn" not in capsys.readouterr().err
    assert (tmp_path / "out" / "figures" / "rate.png").read_bytes().startswith(b"\x89PNG")
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file() and file.suffix not in (".png", ".html"):
            assert not LOOSE.search(file.read_text().replace("\n", "")), file.name
