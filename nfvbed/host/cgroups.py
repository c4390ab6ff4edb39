"""Where cgroups of version 2 are, on hosts with one hierarchy and on hybrid ones."""

from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.host import fixes


def unified_mount(mounts: str | None = None) -> Path:
    """Find the mount of cgroup version 2.

    Args:
        mounts: the text of /proc/mounts; None: read it.

    Raises:
        PrerequisiteError: there is none.
    """
    text = Path("/proc/mounts").read_text() if mounts is None else mounts
    for line in text.splitlines():
        _, target, filesystem, *_ = line.split()
        if filesystem == "cgroup2":
            return Path(target)
    raise PrerequisiteError(
        "no cgroup version 2 to put processes into",
        where="/proc/mounts",
        observed="no mount of type cgroup2",
        fix=fixes.CGROUP_V2,
    )
