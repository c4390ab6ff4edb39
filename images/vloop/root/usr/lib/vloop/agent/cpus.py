"""Which CPUs forward and which do everything else."""

import os

from agent.program import read


def listed(text: str) -> list[int]:
    """Read the kernel's form of a list: `0,2-3`."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def online() -> list[int]:
    """Return all CPUs."""
    return listed(read("/sys/devices/system/cpu/online", "0"))


def isolated() -> list[int]:
    """Return the CPUs that the kernel's command line keeps from its scheduler."""
    return listed(read("/sys/devices/system/cpu/isolated"))


def split(every: list[int], apart: list[int]) -> tuple[list[int], list[int]]:
    """Return the CPUs that forward and those that do not; with one CPU both are it.

    Isolated ones forward where there are any, else all but the first.
    """
    forwarding = [cpu for cpu in every if cpu in apart] or every[1:]
    control = [cpu for cpu in every if cpu not in forwarding]
    return forwarding or every, control or every


def stay_off_forwarding() -> None:
    """Keep this process, and what it starts, off the CPUs that forward."""
    _, control = split(online(), isolated())
    os.sched_setaffinity(0, control)
