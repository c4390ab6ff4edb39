"""Steering by an OpenFlow controller in a process of its own, to which the bridge connects."""

import json
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.steering.path import SteeringPath, path_rules
from nfvbed.dataplanes.ovs.steering.path_file import write_path
from nfvbed.dataplanes.ovs.steering.steering import (
    SteeredBridge,
    Steering,
    SteeringReport,
    check_forwarding,
    forget_cached,
)
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.timing import Steps
from nfvbed.patience import patient

PROCESS = "openflow-controller"
PORT = 6653
"""IANA's port for OpenFlow; the namespace is the switch's alone, so no other program has it there."""
PATIENCE_S = patient(10.0)
_LOOK_AROUND_S = 0.002

Status = dict[str, Any]


class ControllerSteering(Steering):
    """Rules that a controller writes which knows the path."""

    kind = "controller"

    def set_up(self, bridge: SteeredBridge, path: SteeringPath) -> SteeringReport:
        """Start the controller, connect the bridge to it, and wait until it has confirmed every rule."""
        wanted = len(path_rules(path))
        write_path(_path_file(bridge), path)
        steps = Steps()
        with steps.timed("deploy.controller"):
            process = _start(bridge)
            _wait(bridge, process, lambda _: True)
        with steps.timed("deploy.rules"):
            with _database(bridge) as database:
                database.set_controller(bridge.name, f"tcp:127.0.0.1:{PORT}")
            _wait(bridge, process, lambda status: status["rules"] == wanted)
            forget_cached(bridge)
        return SteeringReport(steps.done, check_forwarding(bridge, path))

    def change(self, bridge: SteeredBridge, path: SteeringPath) -> SteeringReport:
        """Let the controller exchange all rules in one bundle, and wait until the switch has confirmed it."""
        wanted, steps = len(path_rules(path)), Steps()
        process = bridge.workspace.process(PROCESS)
        check_alive(process)
        write_path(_path_file(bridge), path)  # The controller reads it for this change alone.
        with steps.timed("steer.rules"):
            forget_cached(bridge)
            refused = ask(status_socket(bridge), "change")["error"]
            if refused:
                raise DeployError(
                    "the OpenFlow controller does not change the path", where=bridge.name, observed=refused
                )
            _wait(bridge, process, lambda status: status["rules"] == wanted)
            forget_cached(bridge)
        return SteeringReport(steps.done, check_forwarding(bridge, path))

    def verify(self, bridge: SteeredBridge) -> None:
        """Check that the controller lives and has the bridge.

        Raises:
            SwitchDiedError: it has ended; the rules stay in the bridge, but nothing would bring them back.
            DeployError: it lives and the bridge is not connected to it.
        """
        check_alive(bridge.workspace.process(PROCESS))
        if not ask(status_socket(bridge), "status")["connected"]:
            with _database(bridge) as database:
                observed = database.controller_status(bridge.name)
            raise DeployError("the bridge is not connected to its controller", where=bridge.name, observed=observed)

    def tear_down(self, bridge: SteeredBridge) -> None:
        """Disconnect the bridge, end the controller, remove the rules."""
        with _database(bridge) as database:
            database.set_controller(bridge.name, None)
        bridge.workspace.process(PROCESS).stop()
        status_socket(bridge).unlink(missing_ok=True)
        with BridgeController(bridge.management) as connection:
            connection.remove_all_rules()


def _path_file(bridge: SteeredBridge) -> Path:
    return bridge.workspace.directory / f"{bridge.name}.path.json"


def status_socket(bridge: SteeredBridge) -> Path:
    """Return the socket on which the controller answers."""
    return bridge.workspace.directory / f"{bridge.name}.steering"


def ask(path: Path, what: str) -> Status:
    """Ask the controller for its `status` or its `counters`, or to `change` the path to that of its file.

    Raises:
        DeployError: it does not answer.
    """
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_S)
            connection.connect(str(path))
            with connection.makefile("rwb") as stream:
                stream.write(json.dumps({"do": what}).encode() + b"\n")
                stream.flush()
                answer: Status = json.loads(stream.readline())
    except (OSError, ValueError) as failure:
        raise DeployError(
            "the OpenFlow controller does not answer", where=str(path), observed=str(failure)
        ) from failure
    return answer


def _start(bridge: SteeredBridge) -> ManagedProcess:
    module = "nfvbed.dataplanes.ovs.steering.controller_process"
    argv = [sys.executable, "-m", module, str(_path_file(bridge)), str(status_socket(bridge)), str(PORT)]
    return bridge.workspace.spawn(PROCESS, argv, cores=bridge.cores, netns=bridge.netns)


def _wait(bridge: SteeredBridge, process: ManagedProcess, done: Callable[[Status], bool]) -> None:
    """Wait for a state of the controller.

    Raises:
        SwitchDiedError: it has ended.
        DeployError: the switch refused a rule, or the time is over.
    """
    deadline = time.monotonic() + PATIENCE_S
    status: Status = {}
    while time.monotonic() < deadline:
        check_alive(process)
        if status_socket(bridge).is_socket():
            status = ask(status_socket(bridge), "status")
            if status["error"]:
                raise DeployError("the bridge refused a rule", where=bridge.name, observed=status["error"])
            if done(status):
                return
        time.sleep(_LOOK_AROUND_S)
    raise DeployError(
        "the OpenFlow controller did not steer in time",
        where=f"{bridge.name}, log {process.log}",
        observed=f"after {PATIENCE_S:g} s: {status or 'it does not answer'}",
        fix="read that log",
    )


def _database(bridge: SteeredBridge) -> SwitchDatabase:
    return SwitchDatabase(bridge.database)
