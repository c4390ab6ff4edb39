"""The processes of a node's services: their files are written, they are started, waited for and checked."""

from collections.abc import Sequence

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.nodes.inside import file_in
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.places import CONTROLLER
from nfvbed.cloud.devcloud.services.service import Process, Service
from nfvbed.cloud.devcloud.services.settings import CloudSettings
from nfvbed.cloud.devcloud.waiting import wait_until
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import tail

_LAST_LINES = 12


class NodeProcesses:
    """The processes of one node."""

    def __init__(self, node: Node, services: Sequence[Service]) -> None:
        self._node = node
        self._channel = node.channel
        self._services = tuple(services)

    def configure(self, settings: CloudSettings) -> int:
        """Write the files of all services; return how many."""
        count = 0
        for service in self._services:
            for folder in service.folders:
                self._channel.mkdir(folder.path, folder.mode, folder.owner)
            for file in service.files:
                self._channel.write(file.path, settings.render(file), file.mode, file.owner)
                count += 1
            for copy in service.copies:
                self._channel.write(copy.path, copy.source.read_bytes())
        for mechanism in settings.mechanisms:
            for copy in mechanism.copies:
                self._channel.write(copy.path, copy.source.read_bytes())
        return count

    def is_configured(self, service: Service, settings: CloudSettings) -> bool:
        """Return whether the files of a service are on the node as they would be written."""
        present = [file_in(self._node, file.path) for file in service.files]
        wanted = [settings.render(file) for file in service.files]
        return all(path.is_file() and path.read_text() == text for path, text in zip(present, wanted, strict=True))

    def start(self, processes: Sequence[Process]) -> None:
        """Start those processes that do not run."""
        for process in processes:
            self._channel.start(process.name, process.argv, process.user, dict(process.environment))

    def await_success(self, what: str, command: Command, timeout_s: float) -> None:
        """Wait until a command succeeds.

        Raises:
            DeployError: it took too long; with what the command said.
        """

        def missing() -> str:
            output = self._channel.run(command)
            return "" if output.status == 0 else (output.stderr or output.stdout or "no answer").strip()[-400:]

        wait_until(what, missing, timeout_s)

    def check_all_alive(self) -> None:
        """Check that every process of every service runs.

        Raises:
            DeployError: one has ended; with the last lines of its log.
        """
        for service in self._services:
            for process in service.processes:
                self.check_alive(process.name)

    def check_alive(self, name: str) -> None:
        """Check that a process runs.

        Raises:
            DeployError: it has ended; with the last lines of its log.
        """
        state = next((one for one in self._channel.services() if one.name == name), None)
        if state is not None and state.status is None:
            return
        log = self._node.places.logs / f"{name}.log"
        ended = "was not started" if state is None else f"exit status {state.status}"
        where = "" if self._node.name == CONTROLLER else f" on node {self._node.name}"
        raise DeployError(
            f"{name} has ended{where}",
            where=str(log),
            observed=f"{ended}; last lines of its log:\n{tail(log, _LAST_LINES) or 'no log'}",
            fix="nfvbed devcloud start starts it again",
        )
