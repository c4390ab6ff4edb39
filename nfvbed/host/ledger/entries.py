"""The entries of a ledger: one model for each kind of thing that can be left behind on a host."""

from typing import Annotated, Any, Literal

from pydantic import Field

from nfvbed.records import Record


class DirectoryEntry(Record):
    """A directory; undoing removes it with its content, unless others share it."""

    kind: Literal["directory"] = "directory"
    path: str
    shared: bool = False
    """Others may use it too: it is removed only when it is empty."""


class NetnsEntry(Record):
    """A named network namespace; its links go with it."""

    kind: Literal["netns"] = "netns"
    path: str


class MountEntry(Record):
    """A mount."""

    kind: Literal["mount"] = "mount"
    path: str


class CgroupEntry(Record):
    """A cgroup (version 2); undoing kills what runs in it."""

    kind: Literal["cgroup"] = "cgroup"
    path: str


class MembersEntry(Record):
    """A cgroup (version 2) that processes were moved into; undoing moves all that are in it back, and kills none."""

    kind: Literal["members"] = "members"
    path: str
    previous: str
    """Where they came from; where that is gone, they go to the group above this one."""


class ProcessEntry(Record):
    """A process; its start time distinguishes it from a later one with the same id."""

    kind: Literal["process"] = "process"
    name: str
    pid: int
    start_time: int
    """Clock ticks after boot, field 22 of /proc/<pid>/stat."""
    log: str = ""


class HugepagesEntry(Record):
    """Pages that were added to a pool."""

    kind: Literal["hugepages"] = "hugepages"
    path: str
    """The nr_hugepages file that was written."""
    page_kib: int
    node: int | None
    """NUMA node; None: the kernel chose."""
    previous: int
    added: int
    """Pages that were asked for on top; others may change the pool meanwhile, so this much is taken back."""
    granted: int | None = None
    """How many of them the kernel gave; None: not known, as the process that asked was killed before it could look."""


class FileEntry(Record):
    """A setting in /proc/sys or /sys; undoing restores its old value."""

    kind: Literal["file"] = "file"
    path: str
    previous: str


class SharedMemoryEntry(Record):
    """Files of POSIX shared memory under names of ours, which a program leaves when it is killed."""

    kind: Literal["shared-memory"] = "shared-memory"
    prefix: str
    """What their names begin with; it holds the workspace's id."""


class LinkEntry(Record):
    """A link in the host's own network namespace; those in namespaces of the workspace go with them."""

    kind: Literal["link"] = "link"
    name: str


class TraceInstanceEntry(Record):
    """An instance of the kernel's tracing, in a mounted tracefs; what it traces ends with it."""

    kind: Literal["trace-instance"] = "trace-instance"
    path: str


class DriverEntry(Record):
    """A PCI device that was given another driver."""

    kind: Literal["driver"] = "driver"
    address: str
    previous: str | None
    """None: it had none."""
    override: str
    """What its `driver_override` said; empty: nothing."""
    netdev: str = ""
    """The network device that it had; empty: none, or several."""
    was_up: bool = False
    """Whether that was up."""


class VfSettingsEntry(Record):
    """A virtual function whose settings at its physical function were changed."""

    kind: Literal["vf-settings"] = "vf-settings"
    interface: str
    """The physical function's network device."""
    index: int
    requests: tuple[dict[str, Any], ...]
    """What brings it back, one setting each, in the words of pyroute2."""


class NetdevEntry(Record):
    """A network device of the machine that was moved into a namespace."""

    kind: Literal["netdev"] = "netdev"
    netns: str
    name: str
    """There."""
    previous: str
    """In the machine's own namespace."""


class LinkStateEntry(Record):
    """A link of the machine that was set up or set down."""

    kind: Literal["link-state"] = "link-state"
    name: str
    was_up: bool = False


class EswitchEntry(Record):
    """A NIC whose embedded switch was given another mode."""

    kind: Literal["eswitch"] = "eswitch"
    address: str
    previous: str


class CommandEntry(Record):
    """A command that takes away what only a program of the user's knows; undoing runs it."""

    kind: Literal["command"] = "command"
    argv: tuple[str, ...]
    within_s: float
    environment: dict[str, str] = {}
    """All of its variables."""


Entry = Annotated[
    DirectoryEntry
    | NetnsEntry
    | MountEntry
    | CgroupEntry
    | MembersEntry
    | ProcessEntry
    | HugepagesEntry
    | FileEntry
    | SharedMemoryEntry
    | LinkEntry
    | TraceInstanceEntry
    | DriverEntry
    | VfSettingsEntry
    | NetdevEntry
    | LinkStateEntry
    | EswitchEntry
    | CommandEntry,
    Field(discriminator="kind"),
]


class Owner(Record):
    """The maker of the workspace; the first line of its ledger."""

    kind: Literal["owner"] = "owner"
    format: Literal[1] = 1
    pid: int
    start_time: int
    boot: str
    """The kernel's boot id: start times count from the boot, and what the kernel holds ends with it."""
    command: str
    since: str
    """UTC, ISO 8601."""
    made_ns: int = 0
    """The same on the clock that counts from the boot: what was made last is undone first."""
    persistent: bool = False
    """Whether it outlives its owner: `nfvbed deploy`."""


class EntryReplacement(Record):
    """An entry that replaces another one, because more is known now."""

    kind: Literal["amended"] = "amended"
    index: int
    entry: Entry


class UndoMark(Record):
    """The mark that an entry is undone."""

    kind: Literal["undone"] = "undone"
    index: int
