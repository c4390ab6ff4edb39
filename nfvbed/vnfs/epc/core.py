"""The life of one vEPC's functions: started in order, waited for, frozen during a trial, ended.

All of them are processes of one workspace, named `<VNF>-<function>`; another nfvbed finds them there by these names.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nfvbed
from nfvbed.errors import DeployError, OnboardError, VnfDiedError
from nfvbed.host.ledger.processes import ManagedProcess, how_it_ended
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient
from nfvbed.spec.corenetwork import DEFAULT_NETWORK, CoreNetwork
from nfvbed.spec.pcrf import NEXTEPC, PcrfKind, most_attached
from nfvbed.vnfs.epc import network, nextepc, pcrf, shim, store
from nfvbed.vnfs.epc.configuration import (
    DIAMETER_PORT,
    IDENTITIES,
    ORDER,
    SAYS_WHEN_UP,
    STORE_PORT,
    NextepcPaths,
    rendered,
)
from nfvbed.vnfs.epc.emulator import Emulator
from nfvbed.vnfs.epc.network import EpcNamespaces
from nfvbed.vnfs.epc.subscribers import Subscriber, new_subscribers

GATEWAYS = ("sgw", "pgw")
"""Functions that frames pass; the others are needed for attaching and detaching alone."""
FUNCTIONS = ("store", *ORDER, "enb")
BESIDE = tuple(name for name in FUNCTIONS if name not in GATEWAYS)
"""Functions that no frame passes."""
START_S = patient(20.0)
_LOOK_S = 0.02


@dataclass(frozen=True)
class FunctionCores:
    """The cores of the functions."""

    gateways: tuple[int, ...]
    """Cores of those that frames pass."""
    others: tuple[int, ...]
    """Cores of all others."""


@dataclass(frozen=True)
class Subscribers:
    """The subscribers that the network knows, and those that attach: the same, unless a failure is wanted."""

    known: tuple[Subscriber, ...]
    sims: tuple[Subscriber, ...]
    network: CoreNetwork = DEFAULT_NETWORK
    """The network that they are subscribers of."""

    @classmethod
    def all_known(cls, number: int, network: CoreNetwork = DEFAULT_NETWORK) -> "Subscribers":
        """Make so many new subscribers, all of which the network knows."""
        made = new_subscribers(number, network)
        return cls(made, made, network)


class Core:
    """The functions of one VNF."""

    def __init__(self, workspace: Workspace, name: str, pcrf: PcrfKind = NEXTEPC) -> None:
        self._workspace = workspace
        self._name = name
        self._pcrf = pcrf

    @property
    def emulator(self) -> Emulator:
        """The eNB with its UEs."""
        return Emulator(self._file("enb.sock"))

    @property
    def most_attached(self) -> int:
        """How many UEs one start of the functions attaches."""
        return most_attached(self._pcrf)

    def subscribers(self) -> tuple[Subscriber, ...]:
        """Return the SIMs of the emulated UEs."""
        listed = json.loads(self._file("sims.json").read_text())
        return tuple(Subscriber.model_validate(one) for one in listed)

    def network(self) -> CoreNetwork:
        """Return the network that was started last."""
        return CoreNetwork.model_validate_json(self._file("network.json").read_text())

    def start(self, spaces: EpcNamespaces, seats: FunctionCores, root: Path, subscribers: Subscribers) -> None:
        """Start all functions, each after those that it asks.

        Raises:
            PrerequisiteError: nextepc or the library for SCTP is not there.
            OnboardError: one does not come up in time.
            VnfDiedError: one has ended.
        """
        self._write("subscribers.json", subscribers.known)
        self._write("sims.json", subscribers.sims)
        self._file("network.json").write_text(subscribers.network.model_dump_json())
        self._file("enb.sock").unlink(missing_ok=True)  # of an emulated eNB before
        of_store = [network.STORE, str(STORE_PORT), str(self._file("subscribers.json"))]
        self._python("store", spaces, seats, ("nfvbed.vnfs.epc.store", *of_store))
        self._wait("store", partial(self._has_said, "store", store.READY))
        for function in ORDER:
            if self._is_nextepc(function):
                self._start_function(function, spaces, seats, root)
                self._wait(function, partial(self._has_said, function, SAYS_WHEN_UP[function]))
            else:
                of_pcrf = [IDENTITIES["pcrf"], network.PCRF, str(DIAMETER_PORT), str(self._file("subscribers.json"))]
                self._python("pcrf", spaces, seats, ("nfvbed.vnfs.epc.pcrf", *of_pcrf))
                self._wait("pcrf", partial(self._has_said, "pcrf", pcrf.READY))
        of_enb = [*(str(self._file(name)) for name in ("enb.sock", "sims.json", "network.json"))]
        of_enb += [network.MME, str(network.ENB_S1U)]
        self._python("enb", spaces, seats, ("nfvbed.vnfs.epc.emulation", *of_enb), shim.environment(root))
        self._wait("enb", self.emulator.listens)

    def _start_function(self, function: str, spaces: EpcNamespaces, seats: FunctionCores, root: Path) -> None:
        log, file = self._log(function), self._file(f"{function}.yml")
        log.unlink(missing_ok=True)  # of one before, whose words would be taken for this one's
        file.write_text(
            rendered(function, NextepcPaths(nextepc.libraries(root), log), network.ADDRESSES, self.network())
        )
        argv = [str(nextepc.program(function, root)), "-f", str(file), "-p", str(self._file(f"{function}.pid"))]
        variables = nextepc.environment(root) | (shim.environment(root) if function == "mme" else {})
        cores = seats.gateways if function in GATEWAYS else seats.others
        netns = spaces.functions[function]
        self._workspace.spawn(self._process_name(function), argv, cores=cores, netns=netns, environment=variables)

    def _python(
        self,
        function: str,
        spaces: EpcNamespaces,
        seats: FunctionCores,
        module: tuple[str, ...],
        more: dict[str, str] | None = None,
    ) -> None:
        # As this nfvbed was found, so is its process's: also where it is not installed.
        variables = {"PYTHONPATH": str(Path(nfvbed.__file__).parents[1])} | (more or {})
        argv = [sys.executable, "-m", *module]
        name, netns = self._process_name(function), spaces.functions[function]
        (self._workspace.directory / f"{name}.log").unlink(missing_ok=True)
        self._workspace.spawn(name, argv, cores=seats.others, netns=netns, environment=variables)

    def _wait(self, function: str, is_there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_S
        while not is_there():
            self.check((function,))
            if time.monotonic() > deadline:
                raise OnboardError(
                    f"the {function} of {self._name} does not come up",
                    where=str(self._log(function)),
                    observed=f"not ready within {START_S:g} s; the last lines of its log:\n{self._said(function, 8)}",
                    fix="nfvbed destroy, then again; with the same end, see the log",
                )
            time.sleep(_LOOK_S)

    def check(self, functions: Iterable[str] = FUNCTIONS) -> None:
        """Check that functions live.

        Raises:
            VnfDiedError: one has ended; with how, and the last lines of its log.
        """
        for function in functions:
            process = self._process(function)
            if not process.alive():
                raise VnfDiedError(
                    f"the {function} of {self._name} has ended",
                    where=f"pid {process.pid}, log {self._log(function)}",
                    observed=f"{how_it_ended(process)}\n{self._said(function, 8)}".rstrip(),
                    fix="nfvbed heal starts the functions again; with the same end, see the log",
                )

    def wait_for_end(self, function: str) -> None:
        """Wait until a function that was killed has ended: the kernel frees its memory first."""
        deadline = time.monotonic() + START_S
        while self._process(function).alive() and time.monotonic() < deadline:
            time.sleep(_LOOK_S)

    def freeze(self, functions: Iterable[str] = BESIDE) -> None:
        """Stop the functions that no frame passes: nextepc's poll, and would take CPU time from the measurement."""
        self._signal(signal.SIGSTOP, functions)

    def thaw(self, functions: Iterable[str] = BESIDE) -> None:
        """Let the frozen functions go on."""
        self._signal(signal.SIGCONT, functions)

    def pids(self, functions: Iterable[str] = FUNCTIONS) -> tuple[int, ...]:
        """Return their process ids."""
        return tuple(self._process(function).pid for function in functions)

    def kill(self) -> None:
        """Kill all functions at once: none has anything to put in order. Idempotent."""
        for function in reversed(FUNCTIONS):
            try:
                self._process(function).kill()
            except VnfDiedError:
                continue  # never started
        for file in ("subscribers.json", "sims.json", "network.json", "enb.sock"):
            self._file(file).unlink(missing_ok=True)

    def _signal(self, number: signal.Signals, functions: Iterable[str]) -> None:
        for function in functions:
            process = self._process(function)
            if process.alive():
                os.kill(process.pid, number)

    def _process(self, function: str) -> ManagedProcess:
        try:
            return self._workspace.process(self._process_name(function))
        except DeployError as failure:
            raise VnfDiedError(
                f"{self._name} has no {function}", where=failure.where, observed=failure.what, fix="nfvbed destroy"
            ) from failure

    def _has_said(self, function: str, words: str) -> bool:
        try:
            return words in self._log(function).read_text(errors="replace")
        except FileNotFoundError:
            return False

    def _said(self, function: str, lines: int) -> str:
        try:
            return "\n".join(self._log(function).read_text(errors="replace").splitlines()[-lines:])
        except FileNotFoundError:
            return ""

    def _log(self, function: str) -> Path:
        """Return the log of nextepc's program; its other output is in a file that also ends in `.log`."""
        own = ".nextepc" if self._is_nextepc(function) else ""
        return self._workspace.directory / f"{self._process_name(function)}{own}.log"

    def _is_nextepc(self, function: str) -> bool:
        return function in ORDER and (function != "pcrf" or self._pcrf == NEXTEPC)

    def _process_name(self, function: str) -> str:
        return f"{self._name}-{function}"

    def _file(self, name: str) -> Path:
        return self._workspace.directory / f"{self._name}-{name}"

    def _write(self, name: str, subscribers: Sequence[Subscriber]) -> None:
        """Write what holds keys, for root alone."""
        path = self._file(name)
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_text(json.dumps([subscriber.model_dump() for subscriber in subscribers]))
