"""All readings of a cloud, beside what is expected of its machines."""

from collections.abc import Callable, Mapping

from openstack.connection import Connection

from nfvbed.cloud.verify.checks import ExpectedMachine, check_cloud, check_machine
from nfvbed.cloud.verify.commands import MachineCommands
from nfvbed.cloud.verify.readings import read_cloud, read_machine
from nfvbed.dataplanes.ovs.switchchecks import check_switch
from nfvbed.dataplanes.ovs.switchreading import read_switch
from nfvbed.errors import NfvbedError
from nfvbed.records.findings import Finding, State


def verify(
    connection: Connection,
    expected: tuple[ExpectedMachine, ...],
    commands: Mapping[str, MachineCommands],
    own: Callable[[], tuple[Finding, ...]] = lambda: (),
) -> tuple[Finding, ...]:
    """Read a cloud, and check it; what cannot be read is a finding, and the rest is read all the same.

    Args:
        expected: what a variant says of its machines.
        commands: commands to the machines that are read, by name.
        own: checks what is of the data plane alone.
    """
    found = [*_read("cloud", lambda: check_cloud(read_cloud(connection), expected))]
    for machine in expected:
        reached = commands.get(machine.host)
        if reached is not None:
            found += verify_machine(machine, reached)
    return (*found, *_read("data plane", own))


def verify_machine(expected: ExpectedMachine, commands: MachineCommands) -> tuple[Finding, ...]:
    """Read a machine, and check it."""
    found = [*_read(f"{expected.host}: machine", lambda: check_machine(read_machine(commands), expected))]
    if expected.datapath_type is not None:
        asked = bool(expected.reserved_pages)
        found += _read(
            f"{expected.host}: switch", lambda: check_switch(read_switch(commands, with_pages=asked), expected)
        )
    return tuple(found)


def _read(topic: str, work: Callable[[], tuple[Finding, ...]]) -> tuple[Finding, ...]:
    try:
        return work()
    except NfvbedError as failure:
        observed = "; ".join(part for part in (failure.what, failure.observed) if part)
        return (Finding(topic=topic, state=State.ABSENT, summary=observed, probed="asked it", fix=failure.fix),)
