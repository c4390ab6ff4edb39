"""Verifying a real Open vSwitch of the lab with the readings that clouds are verified with; faults are set by hand."""

import subprocess

import pytest

from nfvbed.cloud.verify.checks import ExpectedMachine
from nfvbed.cloud.verify.commands import Answer, MachineCommands
from nfvbed.cloud.verify.readings import read_machine
from nfvbed.dataplanes.ovs.binaries import locate
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.ovs.switchchecks import check_switch
from nfvbed.dataplanes.ovs.switchreading import read_switch
from nfvbed.measure.trial import wait_for_links
from nfvbed.records.findings import State
from tests.functional.declared import validated
from tests.functional.disturbed import wait_until


class LabCommands(MachineCommands):
    """Open vSwitch's own tools, on the sockets of a switch of the lab."""

    def __init__(self, state):
        super().__init__("lab")
        self._sockets = {"ovs-vsctl": f"--db=unix:{state.database}", "ovs-appctl": f"--target={state.unixctl}"}

    def on_machine(self, argv):
        """Run it here."""
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)

    def by_switch(self, argv):
        """Run it on the switch's sockets."""
        name, *words = argv
        return self.on_machine((str(locate().root / "usr/bin" / name), self._sockets[name], *words))


@pytest.fixture(name="verified")
def _verified(lab):
    """Yield what reads and checks a switch, and what changes it; on a lab with a generator on both ports."""
    deployment = lab.deploy(validated("ovs-dpdk"), "p2p")
    (thread,) = lab.work_threads(deployment)
    commands = LabCommands(OvsState.of(deployment))
    expected = ExpectedMachine(host="lab", agents=(), datapath_type="netdev", polling=(thread.core,))

    def look():
        found = check_switch(read_switch(commands), expected)
        return {one.topic.removeprefix("lab: "): one for one in found}

    yield look, commands, (thread.core, OvsState.of(deployment).bridge), lambda: lab.open_generator(deployment)
    lab.destroy(deployment)


def test_a_switch_and_what_is_set_by_hand(verified):
    look, commands, (core, bridge), open_generator = verified
    assert "disconnected" in look()["vhost-user"].summary, "nobody has the ports yet"
    generator = open_generator()
    wait_for_links(generator)
    assert wait_until(lambda: look()["vhost-user"].state is State.PRESENT)
    found = look()
    assert {topic: one.state for topic, one in found.items()} == dict.fromkeys(found, State.PRESENT)
    assert found["receive queues"].summary == f"core {core}: 2 queues"
    other = 1 - core
    commands.asked(("ovs-vsctl", "set", "Open_vSwitch", ".", f"other_config:pmd-cpu-mask={hex(1 << other)}"))
    commands.by_switch(("ovs-vsctl", "add-port", bridge, "nowhere"))
    found = look()
    assert f"threads run on cores {other}" in found["PMD threads"].summary
    assert found["receive queues"].summary.endswith(f"2 queues are on core {other}")
    assert found["switch's ports"].summary.startswith("nowhere: could not open network device nowhere")
    assert found["datapath"].state is found["vhost-user"].state is State.PRESENT
    commands.asked(found["PMD threads"].fix.partition(" (")[0].split())
    commands.asked(("ovs-vsctl", "del-port", "nowhere"))
    found = look()
    assert {topic: one.state for topic, one in found.items()} == dict.fromkeys(found, State.PRESENT)
    generator.close()
    assert read_machine(commands).pages, "the switch's hugepages are this machine's"
