"""Sets what was planned for a host, each change in a ledger beforehand, and undoes all of it at the end of a block."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.ledger.entries import FileEntry, MembersEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.preparation.topics import own_group
from nfvbed.host.probes.host import Host
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Record
from nfvbed.records.preparation import Change, Plan, TopicPlan


class PreparedTopic(Record):
    """What became of one topic."""

    topic: str
    plan: Plan
    summary: str
    changed: int = 0
    """Files that were written."""
    refused: int = 0
    """Files of which the kernel takes no value at all, not even their own."""


@contextmanager
def prepared(plans: Sequence[TopicPlan], host: Host) -> Iterator[tuple[PreparedTopic, ...]]:
    """Keep a host prepared for a block. What a killed nfvbed left set is undone by the next one, as all it left.

    Raises:
        PrerequisiteError: a file cannot be written.
        DeployError: not everything could be set back.
    """
    workspace = Workspace.create()
    problems: list[str] = []
    try:
        with ExitStack() as stack:
            yield tuple(_prepare(plan, host, workspace.ledger, stack) for plan in plans)
    finally:
        problems = workspace.close()
    if problems:
        raise DeployError("not everything could be set back", observed="; ".join(problems), fix="nfvbed destroy")


def _prepare(plan: TopicPlan, host: Host, ledger: Ledger, stack: ExitStack) -> PreparedTopic:
    if plan.holds:
        stack.callback(os.close, _hold_latency(host, plan.holds))
    if plan.group:
        _move_into(plan.group, host, ledger)
    written = [set_file(change, host, ledger) for change in plan.changes]
    refused = written.count(False)
    return PreparedTopic(
        topic=plan.topic,
        plan=plan.plan,
        summary=f"{plan.summary}; {refused} take no value" if refused else plan.summary,
        changed=written.count(True),
        refused=refused,
    )


def set_file(change: Change, host: Host, ledger: Ledger) -> bool:
    """Write a value; return whether the kernel takes one.

    Raises:
        PrerequisiteError: it should take one, and does not.
    """
    path = host.path(change.path)
    try:
        previous = path.read_text().strip()
        if change.may_refuse:
            path.write_text(previous)
    except OSError as failure:
        if change.may_refuse:
            return False
        raise _unwritable(str(path), failure) from failure
    ledger.record(FileEntry(path=str(path), previous=change.undone_by or previous))
    try:
        path.write_text(change.value)
    except OSError as failure:
        raise _unwritable(str(path), failure) from failure
    return True


def _move_into(group: str, host: Host, ledger: Ledger) -> None:
    path = host.path(group)
    ledger.record(MembersEntry(path=str(path), previous=str(host.path(own_group(host, str(Path(group).parent))))))
    try:
        path.mkdir(exist_ok=True)
        (path / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as failure:
        raise _unwritable(str(path), failure) from failure


def _hold_latency(host: Host, device: str) -> int:
    path = host.path(device)
    try:
        held = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        os.write(held, (0).to_bytes(4, "little"))
    except OSError as failure:
        raise _unwritable(str(path), failure) from failure
    return held


def _unwritable(path: str, failure: OSError) -> PrerequisiteError:
    return PrerequisiteError(
        "the host cannot be prepared",
        where=path,
        observed=str(failure),
        fix="run as root, on the host itself; doctor --prepare --read-only says what would be set",
    )
