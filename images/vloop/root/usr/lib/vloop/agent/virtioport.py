"""The virtio port that a cloud's guest has: libvirt speaks the QEMU guest agent's protocol (QGA) on it.

Nova gives it to instances of an image with `hw_qemu_guest_agent`. Of the QEMU guest agent's commands those are answered
with which libvirt finds its agent; one more, `vloop`, has a request of vloop/1 as its arguments.
"""

import json
import os
from collections.abc import Callable

from agent.program import read

NAME = "org.qemu.guest_agent.0"
_PORTS = "/sys/class/virtio-ports"
_DELIMITER = b"\xff"
"""Before the answer to guest-sync-delimited, and what libvirt may send before a command: neither is JSON's."""


def find(ports: str = _PORTS) -> str:
    """Return the device of the port; empty: the machine has none."""
    names = sorted(os.listdir(ports)) if os.path.isdir(ports) else []
    return next((f"/dev/{name}" for name in names if read(f"{ports}/{name}/name") == NAME), "")


def answer(line: bytes, ask: Callable[[bytes], dict]) -> bytes:
    """Return the whole answer to a command of QGA.

    Args:
        ask: answers a request of vloop/1.
    """
    begin = b""
    try:
        command = json.loads(line.replace(_DELIMITER, b""))
        name, arguments = command.get("execute"), command.get("arguments", {})
        if name == "guest-sync-delimited":
            begin = _DELIMITER
        found = {"return": _does(name, arguments, ask)}
    except KeyError:
        found = _error("CommandNotFound", f"The command {name} has not been found")
    except (ValueError, AttributeError) as fault:
        found = _error("GenericError", f"no command: {fault}")
    return begin + json.dumps(found).encode()


def _does(name: str, arguments: dict, ask: Callable[[bytes], dict]) -> object:
    does: dict[str, Callable[[], object]] = {
        "guest-sync": lambda: arguments.get("id"),
        "guest-sync-delimited": lambda: arguments.get("id"),
        "guest-ping": dict,
        "guest-info": lambda: {"version": "vloop", "supported_commands": _supported(does)},
        "vloop": lambda: ask(json.dumps(arguments).encode()),
    }
    return does[name]()


def _supported(names: dict) -> list[dict]:
    return [{"name": name, "enabled": True, "success-response": True} for name in names]


def _error(kind: str, said: str) -> dict:
    return {"error": {"class": kind, "desc": said}}
