"""A node: started in namespaces of its own, found again by the ledger, and gone with its first process."""

import json
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.devcloud.nodes import supervisor
from nfvbed.cloud.devcloud.nodes.channel import Channel
from nfvbed.cloud.devcloud.places import NodePlaces
from nfvbed.errors import DeployError
from nfvbed.host.ledger.entries import ProcessEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.ledger.spawn import spawn
from nfvbed.patience import patient

START_S = patient(20.0)
_CHECKOUT = Path(__file__).resolve().parents[4]
_PREFIX = "node-"
_NAMESPACES = ("--net", "--mount", "--uts", "--ipc", "--pid")


@dataclass(frozen=True)
class NodeSpec:
    """The parts of a node."""

    places: NodePlaces
    lower: tuple[Path, ...]
    """Layers below its own, the uppermost first."""
    hugepages_mib: int
    hosts: tuple[tuple[str, str], ...] = ()
    """Names and addresses of the nodes."""

    def document(self) -> dict[str, object]:
        """Return the spec as `enter.py` reads it."""
        places = self.places
        return {
            "name": places.name,
            "merged": str(places.merged),
            "lower": [str(path) for path in self.lower],
            "layer": str(places.layer),
            "work": str(places.work),
            "hugepages_mib": self.hugepages_mib,
            "hosts": [list(pair) for pair in self.hosts],
            "binds": [[str(places.exchange), "run/nfvbed"], [str(places.logs), "var/log/nfvbed"]],
        }


class Node:
    """A running node."""

    def __init__(self, places: NodePlaces, process: ManagedProcess) -> None:
        self.places = places
        self.name = places.name
        self._process = process
        self.channel = Channel(places.socket, places.name)

    @classmethod
    def start(cls, spec: NodeSpec, ledger: Ledger) -> "Node":
        """Start a node and wait until it answers.

        Raises:
            DeployError: it did not come up; with its output.
        """
        places = spec.places
        shutil.rmtree(places.work, ignore_errors=True)
        for folder in (places.layer, places.work, places.logs, places.exchange):
            folder.mkdir(parents=True, exist_ok=True, mode=0o755)
        places.merged.mkdir(exist_ok=True)
        places.socket.unlink(missing_ok=True)
        shutil.copy(supervisor.__file__, places.exchange)
        document = places.exchange / "spec.json"
        document.write_text(json.dumps(spec.document()))
        argv = ["unshare", *_NAMESPACES, "--fork", "--kill-child", "--"]
        argv += [sys.executable, "-m", "nfvbed.cloud.devcloud.nodes.enter", str(document)]
        log = places.logs / "node.log"
        node = cls(places, spawn(_process_name(places.name), argv, log, ledger, {"PYTHONPATH": str(_CHECKOUT)}))
        node._await_answer()
        return node

    @classmethod
    def find(cls, places: NodePlaces, entries: Sequence[object]) -> "Node | None":
        """Return the node that a ledger's entries name, if it runs."""
        for entry in reversed(entries):  # the last start's
            if isinstance(entry, ProcessEntry) and entry.name == _process_name(places.name):
                node = cls(places, ManagedProcess(entry.name, entry.pid, entry.start_time, Path(entry.log)))
                return node if node.alive() else None
        return None

    def alive(self) -> bool:
        """Return whether it runs."""
        return self._process.alive()

    @property
    def first_process(self) -> int:
        """Return the id of its first process on this machine, by which its namespaces are found.

        Raises:
            DeployError: it is gone.
        """
        parent = self._process.pid
        try:
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        except OSError:
            children = []
        if not children:
            raise DeployError(
                f"node {self.name} is gone", where=f"pid {parent}", fix="nfvbed devcloud stop, then start"
            )
        return int(children[0])

    def enter_argv(self, argv: Sequence[str]) -> list[str]:
        """Return the command that runs a program in the node on the caller's terminal."""
        return ["nsenter", f"--target={self.first_process}", "--all", "--wdns=/root", "--", *argv]

    def _await_answer(self) -> None:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self.alive():
            if self.places.socket.exists() and self.channel.ping():
                return
            time.sleep(0.02)
        raise DeployError(
            f"node {self.name} did not come up",
            where=str(self._process.log),
            observed=self._process.log_tail(8) or "no log",
            fix="its namespaces need root and a kernel with overlayfs",
        )


def names_of(entries: Sequence[object]) -> tuple[str, ...]:
    """Return the names of the nodes in a ledger's entries, whether they run or not."""
    names = (e.name for e in entries if isinstance(e, ProcessEntry) and e.name.startswith(_PREFIX))
    return tuple(dict.fromkeys(name.removeprefix(_PREFIX) for name in names))


def _process_name(node: str) -> str:
    return _PREFIX + node
