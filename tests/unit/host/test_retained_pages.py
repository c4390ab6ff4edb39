"""Hugepages that stay reserved between deployments: who answers for them, and how many."""

import pytest

from nfvbed.host.ledger import undo
from nfvbed.host.ledger.entries import HugepagesEntry, NetnsEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.workspace import retainedpages
from nfvbed.host.workspace.retainedpages import MOST_PAGES, RetainedPages


class Place:
    """A workspace that is a ledger only."""

    def __init__(self, path):
        self.ledger = Ledger.create(path, this_process())


@pytest.fixture
def places(tmp_path, monkeypatch):
    made = []

    def create():
        made.append(Place(tmp_path / f"{len(made)}.jsonl"))
        return made[-1]

    monkeypatch.setattr(retainedpages.Workspace, "create", create)
    return create, made


def pages(granted, node=None, path="/pool"):
    return HugepagesEntry(path=path, page_kib=2048, node=node, previous=0, added=10, granted=granted)


def test_pages_of_an_ending_deployment_are_answered_for_by_another_ledger(places, monkeypatch):
    create, made = places
    ending, taker = create(), RetainedPages()
    ending.ledger.record(NetnsEntry(path="/nowhere"))
    ending.ledger.record(pages(300))
    taker.take_over(ending)
    undone = []
    monkeypatch.setattr(undo, "undo", lambda entry: undone.append(entry.kind))
    assert ending.ledger.undo_all() == []
    assert undone == ["netns"]
    assert Ledger.open(ending.ledger.path).entries == ()
    assert Ledger.open(made[1].ledger.path).entries == (pages(300),)


def test_no_more_is_kept_than_a_deployment_needs(places):
    create, made = places
    taker = RetainedPages()
    for granted in (MOST_PAGES - 100, 200, 100):
        ending = create()
        ending.ledger.record(pages(granted))
        taker.take_over(ending)
    keeper = made[1].ledger
    assert [entry.granted for entry in keeper.entries] == [MOST_PAGES - 100, 100]


@pytest.mark.parametrize("entry", [pages(None), pages(0), pages(10, node=1)])
def test_pages_of_a_node_or_of_unknown_number_go_with_their_deployment(places, entry):
    create, made = places
    ending = create()
    ending.ledger.record(entry)
    RetainedPages().take_over(ending)
    assert ending.ledger.entries == (entry,)
    assert len(made) == 1
