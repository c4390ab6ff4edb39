"""Commands on a machine that Kolla has deployed: over SSH, and in the container of its switch."""

import json
from collections.abc import Sequence
from functools import cached_property

from nfvbed.cloud.verify.commands import Answer, MachineCommands
from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.remote.connection import SshHost

ENGINES = ("docker", "podman")
"""Kolla's `kolla_container_engine`."""
_ANSWER_S = 30.0
_FIND_ENGINE = " || ".join(f"command -v {name}" for name in ENGINES)
_APPCTL = (
    # Kolla starts the daemon without a pidfile in some releases; its socket is there all the same.
    'ovs-appctl "$@" 2>/dev/null || ovs-appctl --target="$(ls -t /run/openvswitch/ovs-vswitchd*.ctl | head -n 1)" "$@"'
)


class KollaCommands(MachineCommands):
    """Commands on one machine.

    Args:
        reached: connection over SSH, which is made at the first command.
        container: container of the switch's daemon.
    """

    def __init__(self, host: str, reached: SshHost, container: str) -> None:
        super().__init__(host)
        self._reached = reached
        self._container = container

    def on_machine(self, argv: Sequence[str], timeout_s: float = _ANSWER_S) -> Answer:
        """Run a command over SSH."""
        done = self._reached.run(argv, check=False, timeout_s=timeout_s)
        return Answer(done.status, done.text, done.said)

    def by_switch(self, argv: Sequence[str], timeout_s: float = _ANSWER_S) -> Answer:
        """Run a command in the container, as root where the account is not."""
        return self.on_machine([*self._rights, self._engine, "exec", self._container, *argv], timeout_s)

    def labels(self) -> dict[str, str]:
        """Return the labels of the switch's container, with those of its image.

        Raises:
            DeployError: there is no such container.
            PrerequisiteError: the machine has no engine for containers.
        """
        asked = ["inspect", "--format", "{{json .Config.Labels}}", self._container]
        answer = self.on_machine([*self._rights, self._engine, *asked])
        try:
            found = json.loads(answer.out) or {}
            return {str(name): str(value) for name, value in found.items()}
        except (ValueError, AttributeError) as failure:
            raise DeployError(
                f"{self.host} does not say what container {self._container} is of",
                where=self._reached.spec.where,
                observed=answer.said or answer.out or "no answer",
                fix=f"nfvbed verify says what else is there; {self._container} has to run",
            ) from failure

    @property
    def _rights(self) -> list[str]:
        return [] if self._reached.spec.user == "root" else ["sudo", "-n"]

    def appctl(self, *words: str) -> str:
        """Ask the daemon by its pidfile, or by its socket where there is none."""
        return self.asked(("sh", "-c", _APPCTL, "sh", "--timeout=20", *words))

    @cached_property
    def _engine(self) -> str:
        found = self.on_machine(("sh", "-c", _FIND_ENGINE)).out.split()
        if not found:
            raise PrerequisiteError(
                f"{self.host} has no engine for containers",
                where=self._reached.spec.where,
                observed=f"none of {', '.join(ENGINES)} is there",
                fix="deploy the site first: Kolla's bootstrap-servers installs it",
            )
        return found[0]
