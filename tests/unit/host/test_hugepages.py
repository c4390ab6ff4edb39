"""The pool of hugepages in a synthesised tree."""

import pytest

from nfvbed.errors import PrerequisiteError
from nfvbed.host.ledger.entries import HugepagesEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.memory.hugepages import HugepagePool


@pytest.fixture
def tree(tmp_path):
    def make(node=None, **values):
        base = "sys/kernel/mm" if node is None else f"sys/devices/system/node/node{node}"
        directory = tmp_path / base / "hugepages/hugepages-2048kB"
        directory.mkdir(parents=True)
        for name, value in values.items():
            (directory / f"{name}_hugepages").write_text(str(value))
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/meminfo").write_text("MemTotal: 4194304 kB\nMemAvailable: 1048576 kB\n")
        return directory, HugepagePool(node, tmp_path), Ledger.create(tmp_path / "ledger", this_process())

    return make


def test_enough_free_pages_change_nothing(tree):
    directory, pool, ledger = tree(nr=100, free=60, resv=10)
    pool.ensure_free(50, ledger)
    assert (directory / "nr_hugepages").read_text() == "100"
    assert ledger.entries == ()


def test_pool_is_enlarged_by_what_is_missing_and_too_few_says_so(tree):
    directory, pool, ledger = tree(nr=100, free=20, resv=0)
    # The synthesised tree has no more free pages for the number written, as where another takes each that is added.
    with pytest.raises(PrerequisiteError, match="wanted 100 MiB, got 40 MiB") as caught:
        pool.ensure_free(50, ledger)
    assert (directory / "nr_hugepages").read_text() == "250", "five times 30 were asked for"
    assert caught.value.where.endswith("nr_hugepages")
    assert "20 of 50 pages" in caught.value.observed
    assert caught.value.fix
    assert ledger.undo_all() == []
    assert (directory / "nr_hugepages").read_text() == "100"


def test_memory_is_brought_together_where_pages_are_short(tree, monkeypatch, tmp_path):
    directory, pool, ledger = tree(nr=100, free=20, resv=0)
    (tmp_path / "proc/sys/vm").mkdir(parents=True)

    found = iter((0, 15, 0, 15, 0))

    def enlarge(_pages, _ledger):
        added = next(found)
        (directory / "free_hugepages").write_text(str(pool.free + added))
        return added

    monkeypatch.setattr(pool, "enlarge", enlarge)
    assert pool.ensure_free(50, ledger) == 50
    assert (tmp_path / "proc/sys/vm/compact_memory").read_text() == "1"


def test_pages_that_another_takes_meanwhile_are_added_again(tree, monkeypatch):
    directory, pool, ledger = tree(nr=100, free=20, resv=0)
    taken = iter((2, 1, 1, 0))
    asked = []

    def enlarge(pages, _ledger):
        asked.append(pages)
        (directory / "free_hugepages").write_text(str(pool.free + pages - next(taken)))
        return pages

    monkeypatch.setattr(pool, "enlarge", enlarge)
    assert pool.ensure_free(50, ledger) == 50
    assert asked == [30, 2, 1, 1]


def test_more_than_the_available_memory_is_not_even_tried(tree):
    directory, pool, ledger = tree(nr=0, free=0, resv=0)
    with pytest.raises(PrerequisiteError, match="wanted 2000000 MiB"):
        pool.ensure_free(1_000_000, ledger)
    assert (directory / "nr_hugepages").read_text() == "0"
    assert ledger.entries == ()


@pytest.mark.parametrize(("pages", "total"), [(50, "250"), (1_000_000, "100")])
def test_fewer_will_do_where_no_more_become_free(tree, pages, total):
    """All are asked for, five times, where that is within the available memory; else what will do, which is there."""
    directory, pool, ledger = tree(nr=100, free=20, resv=0)
    assert pool.ensure_free(pages, ledger, least=20) == 20
    assert (directory / "nr_hugepages").read_text() == total
    with pytest.raises(PrerequisiteError):
        pool.ensure_free(pages, ledger, least=30)


def test_node_without_a_count_of_promised_pages(tree):
    directory, pool, ledger = tree(node=1, nr=8, free=8)
    pool.ensure_free(8, ledger)
    assert pool.free == 8


def test_kernel_without_hugepages(tmp_path):
    with pytest.raises(PrerequisiteError, match="no 2 MiB hugepages"):
        HugepagePool(None, tmp_path).ensure_free(1, None)


def test_pages_of_two_that_overlap_are_all_given_back_whoever_ends_first(tree, tmp_path):
    directory, pool, first = tree(nr=8, free=0, resv=0)
    total = directory / "nr_hugepages"
    second = Ledger.create(tmp_path / "second", this_process())
    assert pool.enlarge(64, first) == 64
    assert pool.enlarge(100, second) == 100
    assert first.undo_all() == []
    assert total.read_text() == "108"
    # Killed between giving them back and writing that down: the next one undoes what it finds, again.
    again = Ledger.open(tmp_path / "second")
    assert again.undo_all() == []
    assert total.read_text() == "8"
    lines = (tmp_path / "second").read_text().splitlines()
    (tmp_path / "second").write_text("\n".join(lines[:-1]) + "\n")
    assert '"undone"' in lines[-1]
    assert Ledger.open(tmp_path / "second").undo_all() == []
    assert total.read_text() == "8"


def test_pages_that_go_with_a_program_that_ends_are_not_made_a_part_of_the_pool(tree):
    """The kernel makes surplus pages persistent where a number on top of them is written: nothing takes them back."""
    directory, pool, ledger = tree(nr=40, free=0, resv=0, surplus=32)
    pool.enlarge(10, ledger)
    assert (directory / "nr_hugepages").read_text() == "18", "eight that stay, and ten"


def test_pages_are_given_back_beside_those_that_go_with_a_program_that_ends(tree):
    directory, _, ledger = tree(nr=40, free=0, resv=0, surplus=22)
    path = str(directory / "nr_hugepages")
    ledger.record(HugepagesEntry(path=path, page_kib=2048, node=None, previous=8, added=10, granted=10))
    assert ledger.undo_all() == []
    assert (directory / "nr_hugepages").read_text() == "8"
