"""Options of a switch that is described by its variant's file: how it is started, looked at and ended."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

import regex
from pydantic import AfterValidator, Field, StringConstraints, model_validator

from nfvbed.dataplanes.described.extracts import Extract
from nfvbed.dataplanes.described.words import Scope, Word, joined, require_ports_have, scope_of
from nfvbed.dataplanes.ports.kernel_options import CoreUseOptions
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.framelimits import FrameLimit
from nfvbed.spec.layout import Layout
from nfvbed.spec.model import SpecModel
from nfvbed.spec.options import refuse_existing, veth_for_processes
from nfvbed.spec.rings import RingSize
from nfvbed.spec.vnf import KERNEL_FORWARDING, VnfChoice, vnic_of
from nfvbed.units import USUAL_FRAME_BYTES

_MOST_WORDS = 256
_MOST_COMMANDS = 64


def _check_command(words: tuple[str, ...]) -> tuple[str, ...]:
    scope_of(words)
    if not words[0]:
        raise ValueError("the first word of a command names its program")
    return words


Command = Annotated[tuple[Word, ...], Field(min_length=1, max_length=_MOST_WORDS), AfterValidator(_check_command)]
"""A program and its arguments; run for each port, or each cable, where a word names something of one."""
Commands = Annotated[tuple[Command, ...], Field(max_length=_MOST_COMMANDS)]
Environment = dict[Annotated[str, StringConstraints(pattern=r"^[A-Z_][A-Z0-9_]{0,63}$")], Word]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
Seconds = Annotated[float, Field(gt=0, le=120)]


class RepeatedArguments(SpecModel):
    """Arguments that a process is given once for each port, or once for each cable; one of its keys is given."""

    for_each_port: Annotated[tuple[Word, ...], Field(max_length=_MOST_WORDS)] = ()
    """Arguments of one port."""
    for_each_cable: Annotated[tuple[Word, ...], Field(max_length=_MOST_WORDS)] = ()
    """Arguments of one cable."""

    @model_validator(mode="after")
    def is_of_ports_or_of_cables(self) -> Self:
        if bool(self.for_each_port) == bool(self.for_each_cable):
            raise ValueError("say for_each_port or for_each_cable, one of them")
        if scope_of(self.for_each_port) is Scope.CABLE:
            raise ValueError("for_each_port names something of a cable: write for_each_cable")
        if scope_of(self.for_each_cable) is Scope.PORT:
            raise ValueError("for_each_cable names something of a port: write for_each_port")
        return self

    @property
    def words(self) -> tuple[str, ...]:
        """Those that are given."""
        return self.for_each_port or self.for_each_cable

    @property
    def scope(self) -> Scope:
        """What they are repeated for."""
        return Scope.PORT if self.for_each_port else Scope.CABLE


class ThreadsSpec(SpecModel):
    """Threads of the process that forward packets."""

    named: str = Field(".*", max_length=200)
    """Regular expression of their whole names (`/proc/PID/task/TID/comm`); by default all of its threads."""
    polling: bool = False
    """Threads that never sleep: then their CPU time says nothing of the load."""

    @model_validator(mode="after")
    def is_an_expression(self) -> Self:
        try:
            regex.compile(self.named)
        except regex.error as failure:
            raise ValueError(f"threads.named {self.named!r} is no regular expression: {failure}") from failure
        return self


class ProcessSpec(SpecModel):
    """The program that is the switch, which stays in the foreground."""

    run: Annotated[tuple[Word | RepeatedArguments, ...], Field(min_length=1, max_length=_MOST_WORDS)]
    """Program and arguments; an argument may be `for_each_port: [...]` or `for_each_cable: [...]`."""
    threads: ThreadsSpec = ThreadsSpec()
    """Threads of it that forward."""

    @model_validator(mode="after")
    def arguments_are_of_the_switch(self) -> Self:
        first = self.run[0]
        if not isinstance(first, str) or not first:
            raise ValueError("the first word of process.run names the program")
        for word in self.run:
            if isinstance(word, str) and scope_of([word]) is not Scope.SWITCH:
                raise ValueError(f"{word!r} is of one port or cable: write it below for_each_port or for_each_cable")
        return self

    @property
    def words(self) -> Iterator[str]:
        """All words, those for ports and cables among them."""
        for word in self.run:
            if isinstance(word, str):
                yield word
            else:
                yield from word.words


class ReadySpec(SpecModel):
    """Conditions of a ready switch: each key that is given."""

    path: Word | None = None
    """Path that must exist, such as a control socket; waited for after the process, before `start`."""
    run: Command | None = None
    """Command that must end with status 0, after `start`; tried again until it does."""
    shows: Extract | None = None
    """Place that the command's output must have."""
    within_s: Seconds = 10.0
    """Longest time that this may take, s."""

    @model_validator(mode="after")
    def says_what_is_waited_for(self) -> Self:
        if self.path is None and self.run is None:
            raise ValueError("ready says what is waited for: path, or run")
        if self.shows is not None and self.run is None:
            raise ValueError("shows is of a command's output: say which by run")
        if self.path is not None and scope_of([self.path]) is Scope.CABLE:
            raise ValueError("a path is there once, or once for each port")
        if self.shows is not None and self.run is not None:
            _require_within(self.shows, scope_of(self.run), "ready.shows")
        return self


class CountersSpec(SpecModel):
    """Counters of the switch's own, cumulative, of each port."""

    run: Command
    """Command that shows them: those of one port, if it names something of one; else those of all ports."""
    input: Word | None = None
    """Line that the command reads from its standard input."""
    rx_packets: Extract
    """Frames that the port received."""
    tx_packets: Extract | None = None
    """Frames that it sent."""
    drops: dict[Name, Extract] = Field(default_factory=dict, max_length=32)
    """Frames that it dropped, by names of the switch's own."""

    @model_validator(mode="after")
    def each_port_has_its_own(self) -> Self:
        scope = joined((scope_of(self.run), scope_of([self.input]) if self.input else Scope.SWITCH))
        if scope is Scope.CABLE:
            raise ValueError("counters are those of a port: name ports in the command, not cables")
        for name, extract in self.each:
            if scope is Scope.SWITCH and extract.scope is not Scope.PORT:
                raise ValueError(
                    f"{name} would be the same of every port: name the port in the command or in the place"
                )
            _require_within(extract, Scope.PORT, name)
        return self

    @property
    def each(self) -> Iterator[tuple[str, Extract]]:
        """All that is read, by name."""
        yield "rx_packets", self.rx_packets
        if self.tx_packets is not None:
            yield "tx_packets", self.tx_packets
        yield from self.drops.items()

    @property
    def is_shared(self) -> bool:
        """Whether one output has the counters of all ports."""
        return joined((scope_of(self.run), scope_of([self.input]) if self.input else Scope.SWITCH)) is Scope.SWITCH


class VersionSpec(SpecModel):
    """The version of something that is under test."""

    run: Command
    """Command that shows it, once the switch runs."""
    input: Word | None = None
    """Line that the command reads from its standard input."""
    shows: Extract
    """Place of the version in its output."""


class VethPorts(SpecModel):
    """Ends of veth pairs, which nfvbed makes, up and without offloads."""

    kind: Literal["veth"]


class VhostUserPorts(SpecModel):
    """vhost-user sockets, which the other sides make and serve: the switch is the client of each."""

    kind: Literal["vhost-user"]
    ring_size: RingSize = 1024
    """Descriptors of each ring; a power of two."""


class DescribedOptions(CoreUseOptions):
    """A switch of commands and a process, joined to ports that nfvbed makes."""

    dataplane: Literal["described-switch"]
    command_fields = frozenset({"environment", "process", "start", "ready", "counters", "stop", "versions"})
    install: str = ""
    """Advice where a program is missing, for messages."""
    ports: Annotated[VethPorts | VhostUserPorts, Field(discriminator="kind")]
    """Ports of the switch: all of its path are of this kind."""
    cores: int = Field(1, ge=1, le=64)
    """Cores that its threads fill."""
    environment: Environment = Field(default_factory=dict)
    """Environment variables of the process and of all commands."""
    process: ProcessSpec | None = None
    """Program that forwards; None: the kernel does, as `start` tells it."""
    start: Commands = ()
    """Commands that set the switch up, in this order, once the process runs."""
    ready: ReadySpec | None = None
    """Conditions that are waited for."""
    counters: CountersSpec | None = None
    """Counters of the switch's own; veth ports count without any."""
    stop: Commands = ()
    """Commands after its processes have ended, also after a crash: they take away what namespaces, processes and the
    deployment's directory do not take along. What the kernel forwards ends with them in a reset."""
    versions: dict[Name, VersionSpec] = Field(default_factory=dict, max_length=16)
    """Versions of what is under test, by name; that of Linux is always among them."""

    @model_validator(mode="after")
    def there_is_a_switch(self) -> Self:
        if self.process is None and not self.start:
            raise ValueError("nothing forwards: say process, or start")
        if isinstance(self.ports, VhostUserPorts) and self.process is None:
            raise ValueError("the kernel has no vhost-user ports: say process, or ports: {kind: veth}")
        return self

    @model_validator(mode="after")
    def sockets_are_counted_by_the_switch(self) -> Self:
        if isinstance(self.ports, VhostUserPorts) and (self.counters is None or self.counters.tx_packets is None):
            raise ValueError(
                "only the switch can count what passes vhost-user ports: say counters, with rx_packets and tx_packets"
            )
        return self

    @model_validator(mode="after")
    def placeholders_are_of_these_ports(self) -> Self:
        require_ports_have(self._words, links=isinstance(self.ports, VethPorts))
        for name, version in self.versions.items():
            words = version.run if version.input is None else (*version.run, version.input)
            if scope_of(words) is not Scope.SWITCH:
                raise ValueError(f"versions.{name} is asked for once: it names no port or cable")
        return self

    @property
    def _words(self) -> Iterator[str]:
        yield from self.environment.values()
        if self.process is not None:
            yield from self.process.words
        for command in self.commands:
            yield from command
        if self.ready is not None and self.ready.path is not None:
            yield self.ready.path
        if self.counters is not None and self.counters.input is not None:
            yield self.counters.input

    @property
    def commands(self) -> Iterator[tuple[str, ...]]:
        """All commands but the process."""
        yield from self.start
        yield from self.stop
        if self.ready is not None and self.ready.run is not None:
            yield self.ready.run
        if self.counters is not None:
            yield self.counters.run
        yield from (version.run for version in self.versions.values())

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that it runs, by the first words of its commands."""
        first = [next(self.process.words)] if self.process is not None else []
        return tuple(dict.fromkeys([*first, *(command[0] for command in self.commands)]))

    @property
    def has_reset(self) -> bool:
        """Whether it can be ended and started again: a process can, and what `stop` takes away."""
        return self.process is not None or bool(self.stop)

    @property
    def uses_hugepages(self) -> bool:
        """Whether a command names the variant's hugepages."""
        return any("{hugepages" in word for word in self._words)

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """The kind that `ports` names."""
        return (PortKind(self.ports.kind),)

    @property
    def switch_cores(self) -> int:
        """`cores`."""
        return self.cores

    @property
    def veth_offloads(self) -> bool:
        """False: what a program does with a checksum that is still to be made is not known."""
        return False

    @property
    def ring_size(self) -> int:
        """Ring size of `ports`."""
        return self.ports.ring_size if isinstance(self.ports, VhostUserPorts) else super().ring_size

    def io_path(self, kind: PortKind) -> str:
        """Return the default path of such ports; a program of user space on veth ports has one of its own."""
        if kind is PortKind.VETH and self.process is not None:
            return f"described-{self.programs[0].rpartition('/')[2]}"
        return super().io_path(kind)

    def frame_limits(self, kind: PortKind, plan: Layout) -> tuple[FrameLimit, ...]:
        """Return the limit of usual frames: a description does not say what else its switch takes."""
        why = "what a described switch does with longer ones is not known"
        return (FrameLimit(USUAL_FRAME_BYTES, "its ports", why, "linux-bridge"),)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return the kind that `ports` names, for VNFs that can have it."""
        if isinstance(self.ports, VethPorts):
            return veth_for_processes(choice, "described-switch, ports: veth", "it has no taps for guests")
        if choice.kind is VnfKind.EXISTING:
            raise refuse_existing()
        kernel = choice.kind is not VnfKind.VM and choice.forwarding in KERNEL_FORWARDING
        if kernel or vnic_of(choice) not in ("any", "vhost-user"):
            raise UnsupportedError(
                "this VNF needs kernel ports",
                where="described-switch, ports: vhost-user",
                observed=f"forwarding {choice.forwarding}, NIC of kind {vnic_of(choice)}",
                fix="forwarding io, mac, macswap or 5tswap, vnic any or vhost-user; or kind: vm",
            )
        return PortKind.VHOST_USER

    def check_layout(self, plan: Layout) -> None:
        """Refuse VNFs side by side: a cable has two ports.

        Raises:
            UnsupportedError: there are some.
        """
        if plan.ways > 1:
            raise UnsupportedError(
                f"topology {plan.name} shares the flows of one port among VNFs",
                where="described-switch",
                observed="a described switch joins ports two by two",
                fix="a chain (pvp, pvvp), or variant xdp or ovs-dpdk",
            )


def _require_within(extract: Extract, scope: Scope, name: str) -> None:
    if extract.scope not in (Scope.SWITCH, scope):
        raise ValueError(f"{name} names something of a {extract.scope.value}, and its command is of a {scope.value}")
