"""Finding cgroup version 2."""

from pathlib import Path

import pytest

from nfvbed.errors import PrerequisiteError
from nfvbed.host.cgroups import unified_mount

HYBRID = """\
tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
"""


def test_hybrid_host():
    assert unified_mount(HYBRID) == Path("/sys/fs/cgroup/unified")


def test_unified_host():
    assert unified_mount("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n") == Path("/sys/fs/cgroup")


def test_none():
    with pytest.raises(PrerequisiteError, match="no cgroup version 2"):
        unified_mount("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n")
