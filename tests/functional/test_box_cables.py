"""The cables of a box, between two network namespaces: what nfvgen may send on. As root."""

import subprocess
import sys
from pathlib import Path

import pytest

from nfvbed.cloud.box import cables
from nfvbed.cloud.box.layout import Cable
from nfvbed.sites.kolla.preflight import record

XMIT = 4
"""NETDEV_XDP_ACT_NDO_XMIT of linux/netdev.h."""


@pytest.fixture(name="ends")
def _ends():
    """Two network namespaces, each held by a sleeping process."""
    held = [
        subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 60"], stdout=subprocess.PIPE) for _ in "ab"
    ]
    try:
        for one in held:
            one.stdout.readline()
        yield [f"/proc/{one.pid}/ns/net" for one in held]
    finally:
        for one in held:
            one.kill()
            one.wait()
            one.stdout.close()


@pytest.mark.parametrize(("tag", "may_send"), [(200, True), (None, False)])
def test_frames_are_redirected_into_a_generator_s_device(ends, tag, may_send):
    machine, switch = ends
    cables.lay(Cable("dp0", "52:54:00:30:00:14", "ge-dp0", "tor", tag=tag), 0, machine, switch)
    program = f"import runpy; print(runpy.run_path({str(Path(record.__file__))!r})['xdp_features']()['dp0'])"
    said = subprocess.run(
        ["nsenter", f"--net={machine}", sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    assert bool(int(said.stdout) & XMIT) is may_send
    shown = subprocess.run(
        ["nsenter", f"--net={machine}", "ethtool", "-k", "dp0"], capture_output=True, text=True, check=True
    )
    assert "generic-receive-offload: off" in shown.stdout and "tx-checksum-ip-generic: off" in shown.stdout
