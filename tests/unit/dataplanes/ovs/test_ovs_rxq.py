"""The text of `pmd-rxq-show`, captured from Open vSwitch 3.1.0."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import rxq
from nfvbed.dataplanes.ovs.rxq import QueueLoad, parse_loads
from nfvbed.errors import DeployError, InternalError

CAPTURED = (Path(__file__).parent / "captured" / "pmd-rxq-show.txt").read_text()


def test_loads_of_queues():
    found = parse_loads(CAPTURED)
    assert found.window_s == 5
    assert [(queue.core, queue.port, queue.queue, queue.enabled) for queue in found.queues] == [
        (0, "p0", 0, True),
        (0, "p1", 0, True),
    ]
    assert all(queue.usage_percent is not None for queue in found.queues)


def test_a_load_that_is_not_known_is_no_zero():
    text = "pmd thread numa_id 0 core_id 3:\n  isolated : false\n"
    text += "  port: v1a               queue-id:  0 (disabled)   pmd usage: NOT AVAIL\n  overhead: NOT AVAIL\n"
    found = parse_loads(text)
    assert found.queues == (QueueLoad(3, 0, "v1a", 0, False, None),)
    assert found.window_s is None


def test_another_form_is_an_error():
    with pytest.raises(InternalError, match="not in the form"):
        parse_loads(CAPTURED.replace("pmd usage:", "load:"))


def test_one_that_knows_no_seconds_is_asked_without(monkeypatch: pytest.MonkeyPatch):
    asked = []

    def command(socket: Path, name: str, *arguments: str) -> str:
        asked.append(arguments)
        if arguments:
            raise DeployError("refused")
        return CAPTURED

    monkeypatch.setattr(rxq.unixctl, "command", command)
    rxq.read_loads(Path("socket"), 12)
    assert asked == [("-secs", "10"), ()]
