"""What both APIs use: the clients, the journal, and the steps of one onboarding with their times."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import openstack.connection

from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker import stacks
from nfvbed.cloud.tacker.connection import asking, identity, tacker_client
from nfvbed.cloud.tacker.journal import Journal, Note
from nfvbed.cloud.tacker.served import ServedApis, probe
from nfvbed.cloud.tacker.tags import Tag
from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import OnboardError
from nfvbed.host import timing


class Account:
    """One project of one cloud, as one user sees it."""

    def __init__(self, connection: openstack.connection.Connection, journal: Journal) -> None:
        self.connection = connection
        self.journal = journal
        self.tacker: Any = tacker_client(connection)
        self._cloud = ""

    @property
    def cloud(self) -> str:
        """The cloud and project, for the journal."""
        if not self._cloud:
            with asking("Keystone's token"):
                self._cloud = identity(self.connection)
        return self._cloud

    @cached_property
    def tacker_v2(self) -> Any:
        """The client whose VNF instances are those of version 2."""
        return tacker_client(self.connection, "2")

    @cached_property
    def apis(self) -> ServedApis:
        """The APIs that its Tacker has; asked once.

        Raises:
            OnboardError: Tacker does not answer.
        """
        return probe(self.tacker)

    @property
    def project(self) -> str:
        """Keystone's id of the project."""
        with asking("Keystone's token"):
            return str(self.connection.current_project_id)

    def ours(self, tag: Tag | None, owner: str) -> bool:
        """Return whether a tag's owner is of this project."""
        return tag is not None and (tag.owner, tag.project) == (owner, self.project)

    def note(self, kind: str, identifier: str, tag: Tag) -> Note:
        """Record the id of something that was requested."""
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        note = Note(kind, identifier, tag.owner, tag.name, self.cloud, since)
        self.journal.write(note)
        return note

    def await_servers(self, stack: str, path: tuple[str, ...], what: str) -> tuple[PlacedInstance, ...]:
        """Wait until all servers of a stack are ACTIVE; return where they are.

        Raises:
            OnboardError: a server is not ACTIVE, or there is none.
        """
        states: dict[str, str] = {}

        def settled() -> bool:
            states.clear()
            states.update({str(one.name): str(one.status) for one in stacks.servers(self.connection, stack)})
            return bool(states) and not set(states.values()) & {"BUILD", "REBUILD", "UNKNOWN"}

        with asking(f"the servers of {what}"):
            waited = wait("servers", settled)
            if not waited.done or set(states.values()) != {"ACTIVE"}:
                observed = ", ".join(f"{name} {status}" for name, status in states.items()) or "it has no server"
                raise OnboardError(f"the servers of {what} are not ACTIVE", where=f"stack {stack}", observed=observed)
            return stacks.instances(self.connection, stack, path)

    def await_scaled(self, stack: str, before: int, delta: int, what: str) -> None:
        """Wait until a stack has at least as many more or fewer servers as scaling steps, and Heat has finished.

        Tacker 8 may report that it has scaled before Heat begins, and even if Heat does nothing, as at the
        largest size.

        Raises:
            OnboardError: the number of servers does not change, or Heat has failed.
        """
        seen: dict[str, Any] = {}

        def scaled() -> bool:
            found = self.connection.orchestration.find_stack(stack, ignore_missing=False)
            seen.update(servers=len(stacks.servers(self.connection, stack)), status=str(found.status))
            changed = seen["servers"] - before
            enough = changed >= delta if delta > 0 else changed <= delta
            return (enough and not seen["status"].endswith("_IN_PROGRESS")) or seen["status"].endswith("_FAILED")

        with asking(f"scaling of {what}"):
            waited = wait("scale", scaled)
        if not waited.done or seen["status"].endswith("_FAILED"):
            observed = f"{before} servers before, {seen['servers']} now; Heat: {seen['status']}"
            fix = "is it at the largest or smallest size of its descriptor?"
            raise OnboardError(
                f"{what} was not scaled by {delta:+d}", where=f"stack {stack}", observed=observed, fix=fix
            )


class Steps(timing.Steps):
    """Steps of an onboarding, with their times; each is reported when it begins."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__()
        self._tell = tell

    @contextmanager
    def step(self, name: str, sentence: str) -> Iterator[None]:
        """Time the block."""
        self._tell(sentence)
        with self.timed(name):
            yield
