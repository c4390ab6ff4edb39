"""The root of a machine that is namespaces, in a mount namespace of this test's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, stat, sys
from pathlib import Path
from nfvbed.cloud.rootmounts import change_root, fill_dev
from nfvbed.host.network.namespaces import MS_PRIVATE, MS_REC, mount
root = Path(sys.argv[1])
mount("none", "/", "none", MS_REC | MS_PRIVATE)
mount("tmpfs", str(root), "tmpfs")
(root / "dev").mkdir()
fill_dev(root, "pagesize=2M,size=4M,mode=1777")
change_root(root)
print(os.getcwd(), *sorted(os.listdir("/")), *sorted(os.listdir("/dev")))
print(os.readlink("/dev/ptmx"), os.stat("/dev/null").st_rdev, oct(stat.S_IMODE(os.stat("/dev/hugepages").st_mode)))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="mounts need root")
def test_a_root_gets_a_dev_without_this_machine_s_devices_and_becomes_the_process_s_own(tmp_path):
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    places, facts = done.stdout.splitlines()
    assert places == "/ dev fd full hugepages net null ptmx pts random shm stderr stdin stdout tty urandom zero"
    assert facts == f"pts/ptmx {Path('/dev/null').stat().st_rdev} 0o1777"
    assert list(tmp_path.iterdir()) == [], "nothing of it is seen from here"
