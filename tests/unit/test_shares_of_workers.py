"""How test files are dealt out to workers."""

import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from tests import shares, tiers


def test_every_file_is_in_one_share_and_groups_stay_together(tmp_path):
    files = []
    for number in range(40):
        file = tmp_path / f"test_{number}.py"
        group = f'pytestmark = pytest.mark.xdist_group("{number % 2}")' if number < 8 else ""
        file.write_text(group + "#" * (100 * number))
        files.append(file)
    dealt = shares.deal(files, 3)
    assert Counter(file for share in dealt for file in share) == Counter(files)
    assert sum(share >= set(files[:8:2]) for share in dealt) == sum(share >= set(files[1:8:2]) for share in dealt) == 1
    sizes = [sum(file.stat().st_size for file in share) for share in dealt]
    assert max(sizes) < 1.1 * min(sizes)


@pytest.mark.parametrize("ends", ["", "    import os; os._exit(1)\n"])
def test_each_test_runs_once_and_a_worker_that_ends_is_a_failure(monkeypatch, tmp_path, ends):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    folder = tmp_path / "tests" / "unit"
    folder.mkdir(parents=True)
    (tmp_path / "tests/shares.py").write_text((tiers.ROOT / "tests/shares.py").read_text())
    for number in range(9):
        (folder / f"test_{number}.py").write_text(f"def test_it():\n{ends if number == 4 else ''}    assert True\n")
    monkeypatch.setattr(tiers, "ROOT", tmp_path)
    monkeypatch.setattr(tiers, "WORK", tmp_path / "tiers")
    (outcome,) = tiers.Session(["unit"], "now").run()
    names = [
        case.get("classname") for case in ElementTree.parse(tmp_path / "tiers/unit.xml").getroot().iter("testcase")
    ]
    assert bool(outcome.failed) is bool(ends)
    if not ends:
        assert sorted(names) == [f"tests.unit.test_{number}" for number in range(9)]
