"""Instances that say on their console that they forward."""

from collections.abc import Callable, Sequence

from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import OnboardError
from nfvbed.spec.vnf import VnfChoice

CONSOLE_LINES = 200
"""Lines of a console in which the marker is looked for."""
Console = Callable[[str], Sequence[str]]
"""Returns the last lines of an instance's console, by Nova's id."""


def marker_of(choice: VnfChoice | None) -> str:
    """Return what the image of a VNF prints when it forwards; empty: nothing."""
    return choice.image.console_marker if choice is not None and choice.image is not None else ""


def await_boot(instance: str, marker: str, console: Console) -> None:
    """Wait until a new instance has printed that it forwards.

    Raises:
        OnboardError: it has not in time; with the last line of its console.
    """
    waited = wait("boot", lambda: any(marker in line for line in console(instance)))
    if not waited.done:
        last = console(instance)[-1:]
        raise OnboardError(
            "a new instance does not say that it forwards",
            where=f"instance {instance}",
            observed=f"{waited.too_long}; its console: {last[0] if last else 'nothing'}",
            fix="nfvbed devcloud console shows all of it",
        )
