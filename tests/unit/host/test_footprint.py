"""The look at this machine, while others make and remove things on it."""

import os
import threading

from nfvbed.host.workspace import footprint


def test_control_groups_of_others_come_and_go_meanwhile(tmp_path):
    ended = threading.Event()

    def others() -> None:
        while not ended.is_set():
            for number in range(30):
                (tmp_path / f"other{number}" / "below").mkdir(parents=True)
            for number in range(30):
                os.removedirs(tmp_path / f"other{number}" / "below")

    (tmp_path / "mine" / "nfvbed-1").mkdir(parents=True)
    thread = threading.Thread(target=others)
    thread.start()
    try:
        found = [footprint._control_groups(tmp_path) for _ in range(300)]
    finally:
        ended.set()
        thread.join()
    assert set(found) == {frozenset({f"{tmp_path}/mine/nfvbed-1"})}


def test_control_groups_of_a_session_apart_are_that_ones(tmp_path):
    for name in ("nfvbed-1", "apart-12/nfvbed-2", "system/nfvbed-3"):
        (tmp_path / name).mkdir(parents=True)
    found = footprint._control_groups(tmp_path)
    assert found == {f"{tmp_path}/nfvbed-1", f"{tmp_path}/system/nfvbed-3"}
