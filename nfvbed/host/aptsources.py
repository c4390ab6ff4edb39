"""Which mirrors have a suite of Debian: the machine's own, whatever Debian it is; suites are side by side there."""

from pathlib import Path
from typing import Final

OS_RELEASE: Final = Path("/etc/os-release")
FORMAT: Final = "$(REPO_URI)|$(RELEASE)|$(CODENAME)"
"""What `apt-get indextargets --format` is asked to print."""


def mirrors_of(suite: str, targets: str, os_release: Path = OS_RELEASE) -> set[tuple[str, str]]:
    """Return the mirrors of a suite as addresses with their releases, with those of its updates and security.

    The set is empty where apt knows no mirror: a system that is only like Debian has another archive, and needs an
    entry of Debian's.

    Args:
        suite: its code name, as `bookworm`.
        targets: output of apt-get in `FORMAT`, a line for each target.
        os_release: the file that says which system this is.
    """
    rows = {(row[0], row[2] or row[1]) for line in targets.splitlines() if len(row := line.split("|")) == 3}
    if there := {(address, name) for address, name in rows if name.startswith(suite)}:
        return there
    said = dict(line.partition("=")[::2] for line in os_release.read_text().splitlines())
    if said.get("ID") != "debian":
        return set()
    own = said.get("VERSION_CODENAME", "").strip('"')
    return {(address, suite + name.removeprefix(own)) for address, name in rows if own and name.startswith(own)}
