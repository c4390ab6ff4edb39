"""How an nfvbed inside a guest node knows which node it is: by parameters of the kernel's command line."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.records import Accelerator

_NAME, _ACCELERATOR, _QEMU = "nfvbed.node", "nfvbed.accelerator", "nfvbed.qemu"


@dataclass(frozen=True)
class NodeIdentity:
    """The guest node that this machine is."""

    site: str
    accelerator: Accelerator
    """What executes its instructions."""
    qemu: str


def parameters(site: str, accelerator: Accelerator, qemu: str) -> tuple[str, ...]:
    """Return the kernel's parameters that carry the identity; kernels ignore unknown ones with a dot."""
    return f"{_NAME}={site}", f"{_ACCELERATOR}={accelerator.value}", f"{_QEMU}={qemu}"


def this_node(command_line: str | None = None) -> NodeIdentity | None:
    """Return which guest node this machine is; None where it is none.

    Args:
        command_line: command line of the kernel; None: this machine's.
    """
    text = Path("/proc/cmdline").read_text() if command_line is None else command_line
    values = dict(word.partition("=")[::2] for word in text.split())
    if _NAME not in values:
        return None
    return NodeIdentity(values[_NAME], Accelerator(values[_ACCELERATOR]), values[_QEMU])
