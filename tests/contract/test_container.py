"""The image of `Containerfile` is made of what a clone has, and measures with one documented command."""

import re
from pathlib import Path

from tests.contract.source import text


def test_nothing_that_git_ignores_is_copied_into_the_image():
    wanted = {line.strip("/") if line.startswith("/") else f"**/{line.strip('/')}" for line in _lines(".gitignore")}
    assert wanted | {".git"} == {line for line in _lines(".containerignore") if not line.startswith("#")}


def test_the_image_measures_what_the_readme_measures():
    containerfile = text(Path("Containerfile"))
    assert 'CMD ["make", "demo"]' in containerfile
    base = re.search(r"^ARG BASE=debian:(\d+)$", containerfile, re.MULTILINE)
    assert base and base[1] in text(Path("setup/suites.txt")).split("\ndebian", 1)[1].splitlines()[0].split()


def _lines(name):
    return [line for line in text(Path(name)).splitlines() if line]
