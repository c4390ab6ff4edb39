"""The text of `pmd-rxq-show`, as released Open vSwitches write it (tests/unit/dataplanes/ovs/captured)."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import rxq
from nfvbed.dataplanes.ovs.rxq import QueueLoad, parse_loads
from nfvbed.errors import DeployError, InternalError
from tests.unit.dataplanes.ovs.releases import VERSIONS, answer

CAPTURED = (Path(__file__).parent / "captured" / "pmd-rxq-show.txt").read_text()


def test_loads_of_queues():
    found = parse_loads(CAPTURED)
    assert found.window_s == 5
    assert [(queue.core, queue.port, queue.queue, queue.enabled) for queue in found.queues] == [
        (0, "p0", 0, True),
        (0, "p1", 0, True),
    ]
    assert all(queue.usage_percent is not None for queue in found.queues)


OLD = {
    # The formats of `format_pmd_rxq` and its like in lib/dpif-netdev.c of these releases, with values put in.
    "2.6 to 2.8": "pmd thread numa_id 0 core_id 2:\n\tisolated : false\n\tport: dpdk0\tqueue-id: 0\n"
    "\tport: vhu1\tqueue-id: 0 1\n",
    "2.9": "pmd thread numa_id 0 core_id 2:\n\tisolated : false\n\tport: dpdk0           \tqueue-id:  0"
    "\tpmd usage: 96 %\n\tport: vhu1            \tqueue-id:  0\tpmd usage: NOT AVAIL\n"
    "\tport: vhu1            \tqueue-id:  1\tpmd usage:  0 %\n",
    "2.10 and 2.11": "pmd thread numa_id 0 core_id 2:\n  isolated : true\n  port: dpdk0             queue-id:  0"
    "  pmd usage: 96 %\n  port: vhu1              queue-id:  0  pmd usage: NOT AVAIL\n"
    "  port: vhu1              queue-id:  1  pmd usage:  0 %\n",
    "2.12": "pmd thread numa_id 0 core_id 2:\n  isolated : false\n  port: dpdk0             queue-id:  0 (enabled) "
    "  pmd usage: 96 %\n  port: vhu1              queue-id:  0 (enabled)   pmd usage: NOT AVAIL\n"
    "  port: vhu1              queue-id:  1 (disabled)  pmd usage:  0 %\n",
}


@pytest.mark.parametrize("version", OLD)
def test_forms_of_before_2_13(version):
    found = parse_loads(OLD[version]).queues
    assert [(queue.core, queue.port, queue.queue) for queue in found] == [
        (2, "dpdk0", 0),
        (2, "vhu1", 0),
        (2, "vhu1", 1),
    ]
    assert [queue.usage_percent for queue in found] == (
        [None] * 3 if version < "2.9" and "2.6" in version else [96, None, 0]
    )
    assert [queue.enabled for queue in found] == ([True, True, False] if version == "2.12" else [None] * 3)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["pmd-rxq-show", "pmd-rxq-show-5s", "pmd-rxq-show-idle"])
def test_released_forms(version, name):
    found = parse_loads(answer(version, name))
    ports = (
        {"null1"}
        if name.endswith("idle")
        else {"null0", "null1", "vhu0", "ax0"} - ({"ax0"} if version < "3" else set())
    )
    assert {queue.port for queue in found.queues} == ports
    assert {(queue.port, queue.queue) for queue in found.queues if queue.enabled is False} == (
        {("vhu0", 1)} if "vhu0" in ports else set()
    )
    assert found.window_s == (None if version < "3" else 5 if name.endswith("5s") else 60)


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
