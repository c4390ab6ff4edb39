"""A VNF is ready by what its consoles say: in the order of its steps, within a time, or not with the cause."""

from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker import marks
from nfvbed.errors import OnboardError
from nfvbed.spec.machines import ConsoleSpec, MarkSpec

WANTED = ConsoleSpec(
    marks=(MarkSpec(step="up", says="vm: up"), MarkSpec(step="ping", says="vm: ping")), failed="vm: failed", timeout_s=1
)


@pytest.fixture(name="consoles")
def _consoles(monkeypatch):
    """Consoles of two instances that have one line more each time that they are read."""
    monkeypatch.setattr(marks, "_PAUSE_S", 0.01)

    def of(**lines):
        reads = dict.fromkeys(lines, 0)

        def output(server, length):
            reads[server] += 1
            return {"output": "\n".join(lines[server][: reads[server]])}

        cloud = SimpleNamespace(compute=SimpleNamespace(get_server_console_output=output))
        return marks.Consoles(cloud, [PlacedInstance(name, name, "controller", ()) for name in lines])

    return of


def test_it_is_ready_when_all_lines_have_come(consoles, monkeypatch):
    clock = iter((0, 0, 5, 5, 7))  # begun, a look, up, a look, ping
    monkeypatch.setattr(marks, "time", SimpleNamespace(monotonic_ns=lambda: next(clock), sleep=lambda _: None))
    told = []
    found = consoles(core=["boot", "vm: up 6"], edge=["boot", "vm: waits", "vm: ping 10 of 10"]).wait(
        WANTED, "vepc", told.append
    )
    assert found.said == ("vm: up 6", "vm: ping 10 of 10")
    assert found.steps == (("up", 5), ("ping", 2)), "each from the one before it"
    assert tuple(told) == found.said


def test_a_failure_that_is_told_ends_the_wait_with_the_last_lines_of_all_consoles(consoles):
    with pytest.raises(OnboardError, match="vepc is not ready") as failure:
        consoles(core=["vm: up 6"], edge=["boot", "vm: failed: no MME"]).wait(WANTED, "vepc", str)
    assert failure.value.where.startswith("step ping")
    assert failure.value.observed.startswith("vm: failed: no MME; console of core: vm: up 6; console of edge: boot | ")


def test_a_line_that_does_not_come_ends_the_wait(consoles):
    silent = WANTED.model_copy(update={"timeout_s": 0.05})
    with pytest.raises(OnboardError) as failure:
        consoles(core=["vm: up 6"], edge=[]).wait(silent, "vepc", str)
    assert "no line that begins with 'vm: ping'" in failure.value.observed
    assert "console of edge: nothing" in failure.value.observed
