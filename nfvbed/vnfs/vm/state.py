"""The record of a virtual machine."""

from typing import Annotated

from nfvbed.records.state import NESTED, VnfState


class GuestState(VnfState):
    """A guest's QEMU, and the ways to it and into the guest."""

    run_directory: str
    """Where the process is recorded."""
    process: str
    """Its name there."""
    monitor: str
    """Socket of QEMU's monitor (QMP)."""
    console: str
    """Socket of the serial console."""
    console_log: str
    agent: str | None = None
    """Socket of nfvbed's agent, where the image has it."""
    started_ns: int = 0
    """When QEMU was started, in ns since 1970."""
    vcpus: Annotated[tuple[int, ...], NESTED] = ()
    """Threads of the virtual CPUs, in their order; none before the monitor has reported them."""
