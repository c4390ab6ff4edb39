"""What several dead ones took is given back, whatever their run directories are called."""

from types import SimpleNamespace

import pytest

from nfvbed.host.ledger.entries import HugepagesEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.workspace import reap, workspace


@pytest.mark.parametrize("names", [("aaaa", "zzzz"), ("zzzz", "aaaa")])
def test_pages_that_were_added_on_top_of_others_are_given_back_first(tmp_path, monkeypatch, names):
    pool = tmp_path / "nr_hugepages"
    pool.write_text("1060")  # 100 of the machine's own
    for module in (reap, workspace):
        monkeypatch.setattr(module, "RUN_DIRECTORY", tmp_path)
    for number, (name, previous, added) in enumerate(zip(names, (100, 612), (512, 448), strict=True)):
        (tmp_path / name).mkdir()
        dead = this_process().model_copy(update={"pid": 1, "start_time": -1, "made_ns": number})
        ledger = Ledger.create(tmp_path / name / "ledger.jsonl", dead)
        ledger.record(HugepagesEntry(path=str(pool), page_kib=2048, node=None, previous=previous, added=added))
    found = reap.reap(SimpleNamespace(held=True))
    assert [item.workspace for item in found] == list(names[::-1])
    assert [item.problems for item in found] == [(), ()]
    assert pool.read_text() == "100"
