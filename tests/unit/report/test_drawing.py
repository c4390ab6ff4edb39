"""Pictures are drawn by a process that may die: each death costs the picture that it drew, and nothing else."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfvbed.errors import DrawingError
from nfvbed.patience import patient
from nfvbed.report.drawing import DRAWING, DrawingProcess

HUNG = """
import struct, sys, time
print("begun", file=sys.stderr, flush=True)
time.sleep(600)
"""
DYING = """
import os, sys
sys.stdin.buffer.read(1)
os.write(2, b"Fatal error \\x1b[31m in the library")
os.abort()
"""
IDLE_AT_ONCE = "import sys; sys.exit(0)"
HOSTILE = [
    pytest.param(text, id=f"u{ord(text):04x}")
    for text in ("\x00", "\x07", "\x1b", "\x7f", "\x9b", "\u202e", "\ud800", "\ufffe", "\uffff", "\t", "\n", "<", "&")
]


def spec(name: str) -> dict:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": f"of {name}",
        "data": {"values": [{"x": name, "y": 1}]},
        "mark": "bar",
        "encoding": {"x": {"field": "x", "type": "nominal"}, "y": {"field": "y", "type": "quantitative"}},
    }


@pytest.fixture
def process():
    process = DrawingProcess()
    yield process
    process.end()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_drawn_that_end_the_library(name: str):
    assert DRAWING.svg(spec(f"a{name}b")).startswith(b"<svg")
    assert DRAWING.png(spec(f"a{name}b"), 1).startswith(b"\x89PNG")


@given(st.text(st.characters(codec=None, categories=None), max_size=12))
@settings(deadline=None, max_examples=25)
def test_any_name_is_drawn(name: str):
    assert DRAWING.svg(spec(name)).startswith(b"<svg")


def test_one_process_draws_all(process: DrawingProcess):
    process.svg(spec("a"))
    first = process.pid
    process.svg(spec("b"))
    assert first is not None
    assert process.pid == first
    process.end()
    assert process.pid is None


def test_what_cannot_be_drawn_is_an_error_and_the_process_stays(process: DrawingProcess):
    with pytest.raises(DrawingError) as failure:
        process.svg({"mark": "no mark"})
    assert failure.value.observed
    assert "\n" not in failure.value.observed
    first = process.pid
    assert process.svg(spec("a"))
    assert process.pid == first


def test_a_process_that_is_killed_between_two_drawings_costs_nothing(process: DrawingProcess):
    process.svg(spec("a"))
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: process.pid is None)
    assert process.svg(spec("b")).startswith(b"<svg")


def test_a_process_that_is_killed_while_it_draws_costs_one_picture(process: DrawingProcess):
    process.begin()
    os.kill(process.pid, signal.SIGSTOP)
    lost = []

    def draw():
        try:
            process.svg(spec("a"))
        except DrawingError as failure:
            lost.append(failure)

    thread = threading.Thread(target=draw)
    drawing = process.pid
    thread.start()
    time.sleep(0.2)
    os.kill(drawing, signal.SIGKILL)
    thread.join(patient(20))
    assert [failure.observed for failure in lost] == ["it was ended by SIGKILL"]
    assert process.svg(spec("b")).startswith(b"<svg")
    assert process.pid != drawing


def test_a_drawing_has_its_time():
    process = DrawingProcess((sys.executable, "-c", HUNG), longest_s=0.5)
    with pytest.raises(DrawingError) as failure:
        process.svg(spec("a"))
    assert failure.value.observed == "nothing was drawn within 0.5 s"
    assert process.pid is None


def test_a_message_has_what_the_process_printed_without_its_escapes():
    process = DrawingProcess((sys.executable, "-c", DYING))
    with pytest.raises(DrawingError) as failure:
        process.svg(spec("a"))
    process.end()
    assert failure.value.observed == r"it was ended by SIGABRT; it printed: Fatal error \u001b[31m in the library"


def test_one_that_ends_again_and_again_is_not_started_for_ever():
    process = DrawingProcess((sys.executable, "-c", IDLE_AT_ONCE))
    with pytest.raises(DrawingError):
        process.svg(spec("a"))
    process.end()


def test_the_process_ends_with_a_parent_that_is_killed(tmp_path: Path):
    source = (
        "from nfvbed.report.drawing import DRAWING; import time; DRAWING.begin();"
        "print(DRAWING.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    drawing = int(parent.stdout.readline())
    assert is_alive(drawing)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not is_alive(drawing))


def test_a_drawing_that_hangs_ends_when_its_parent_was_killed():
    """The program's own alarm: no parent is there to end it."""
    program = Path(sys.modules[DrawingProcess.__module__].__file__).with_name("drawing_program.py")
    source = (
        "import runpy, sys, time, vl_convert; vl_convert.vegalite_to_svg = lambda spec: time.sleep(600);"
        f"sys.argv = ['', '600', '0.3']; runpy.run_path({str(program)!r}, run_name='__main__')"
    )
    process = DrawingProcess((sys.executable, "-c", source), longest_s=patient(60))
    with pytest.raises(DrawingError) as failure:
        process.svg(spec("a"))
    process.end()
    assert failure.value.observed == "it was ended by SIGALRM"


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(holds) -> None:
    until = time.monotonic() + patient(20)
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)
