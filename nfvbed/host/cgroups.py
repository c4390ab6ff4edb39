"""Where cgroups of version 2 are, on hosts with one hierarchy and on hybrid ones."""

from pathlib import Path

from nfvbed.errors import PrerequisiteError


def unified_mount(mounts: str | None = None) -> Path:
    """Find the mount of cgroup version 2.

    Args:
        mounts: the text of /proc/mounts; None reads it.

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
        fix="mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 none /sys/fs/cgroup/unified",
    )
