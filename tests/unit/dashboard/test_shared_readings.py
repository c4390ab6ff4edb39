"""Readings that many ask for are made once; turns and places leave room for others."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nfvbed.dashboard.access.slots import OF_CLIENT, OF_OPERATORS, OF_OTHERS, RequestQueue
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.errors import BusyError, DeployError


def test_those_who_ask_meanwhile_share_a_reading():
    shared, made, begun, go_on = SharedReadings("it", 60.0), [], threading.Event(), threading.Event()

    def make() -> int:
        begun.set()
        go_on.wait(30)
        made.append(1)
        return len(made)

    with ThreadPoolExecutor(20) as many:
        first = many.submit(shared.read, "a", make)
        begun.wait(30)
        others = [many.submit(shared.read, "a", make) for _ in range(19)]
        assert shared.read("b", lambda: 7) == 7, "one of something else does not wait"
        go_on.set()
        assert {one.result() for one in (first, *others)} == {1}
    assert shared.read("a", make, 0.0) == 2 and shared.newest("a") == 2 and shared.newest("c") is None


def test_a_failure_is_shared_too_but_not_that_somebody_is_busy():
    shared, made = SharedReadings("it", 60.0), []

    def fail(error: Exception) -> int:
        made.append(1)
        raise error

    for error, count in ((DeployError("no"), 1), (BusyError("later"), 3)):
        made.clear()
        for _ in range(3):
            with pytest.raises(type(error)):
                shared.read(type(error), lambda error=error: fail(error))
        assert len(made) == count


def test_who_waits_too_long_is_told_and_few_are_kept():
    shared = SharedReadings("it", 60.0, queue_s=0.01, most=2)
    with ThreadPoolExecutor(1) as other:
        go_on, begun = threading.Event(), threading.Event()
        other.submit(shared.read, "a", lambda: begun.set() or go_on.wait(30))
        begun.wait(30)
        with pytest.raises(BusyError, match="being read for others"):
            shared.read("a", lambda: 1)
        go_on.set()
    for key in "bcdef":
        shared.read(key, lambda: 1)
    assert [key for key in "fedcba" if shared.newest(key) is not None] == ["f", "e"]


def test_requests_take_turns():
    async def many() -> None:
        turns = RequestQueue(patience_s=0.05)
        own = [await turns.take("a", operates=False) for _ in range(OF_CLIENT)]
        with pytest.raises(BusyError, match="too many requests"):
            await turns.take("a", operates=False)
        others = [await turns.take(f"b{number}", operates=False) for number in range(OF_OTHERS - OF_CLIENT)]
        with pytest.raises(BusyError):
            await turns.take("c", operates=False)
        operators = [await turns.take("", operates=True) for _ in range(OF_OPERATORS)]
        with pytest.raises(BusyError):
            await turns.take("", operates=True)
        waits = asyncio.ensure_future(turns.take("a", operates=False))
        await asyncio.sleep(0)
        own[0]()
        own[0]()
        others.append(await waits)
        for end in (*own, *others, *operators):
            end()
        for end in [await turns.take("a", operates=False) for _ in range(OF_CLIENT)]:
            end()
        assert turns._clients == {}

    asyncio.run(many())
