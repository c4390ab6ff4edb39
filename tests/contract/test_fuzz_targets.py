"""Each fuzz target is built and has seeds; `make fuzz-native` runs what is built."""

import re

from tests.contract.source import ROOT, text, tracked

FOLDER = ROOT / "native" / "tests" / "fuzz"
MESON = (FOLDER / "meson.build").relative_to(ROOT)


def test_each_target_is_built_and_has_seeds():
    sources = {path.stem.removeprefix("fuzz_") for path in FOLDER.glob("fuzz_*.c")}
    built = set(re.findall(r"^    '(\w+)': \[", text(MESON), re.MULTILINE))
    seeds = (FOLDER / "seeds").relative_to(ROOT)
    seeded = {path.parts[-2] for path in tracked() if path.is_relative_to(seeds)}
    assert sources == built == seeded


def test_seeds_are_small():
    assert all(path.stat().st_size < 1024 for path in (FOLDER / "seeds").rglob("*") if path.is_file())
