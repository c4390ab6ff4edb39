"""What one clone has unpacked another takes: Open vSwitch, from the machine's own mirror and then without one."""

import os
import shutil
import subprocess

import pytest

from tests.functional.lab_host import ROOT

VSWITCHD = ".nfvbed/ovs/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"


@pytest.fixture(name="unpack")
def _unpack(tmp_path):
    """Return what unpacks Open vSwitch in a clone that has nothing as yet, and shares a cache with others."""

    def run(clone, **environment):
        folder = tmp_path / clone
        shutil.copytree(ROOT / "setup", folder / "setup")
        (folder / "nfvbed").mkdir()
        for name in ("__init__", "errors", "sharedcache", "cachecommand"):
            shutil.copy(ROOT / "nfvbed" / f"{name}.py", folder / "nfvbed")
        given = {**os.environ, "NFVBED_CACHE": str(tmp_path / "cache"), "NFVBED_CACHE_COLD": "", **environment}
        done = subprocess.run(
            [folder / "setup/openvswitch"], env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        return folder, done

    return run


def test_it_is_downloaded_once_and_runs_in_both(unpack, tmp_path):
    first, done = unpack("first")
    assert done.returncode == 0 and "downloading" in done.stdout, done.stderr
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/apt-get").write_text("#!/bin/sh\necho 'no mirror' >&2; exit 100\n")
    (tmp_path / "bin/apt-get").chmod(0o755)
    no_mirror = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    second, done = unpack("second", **no_mirror)
    assert done.returncode == 0 and "taken from NFVBED_CACHE" in done.stdout, done.stderr
    versions = [subprocess.check_output([folder / VSWITCHD, "--version"], text=True) for folder in (first, second)]
    assert versions[0] == versions[1] and "Open vSwitch" in versions[0]
    _, done = unpack("third", **no_mirror, NFVBED_CACHE_COLD="unpacked")
    assert done.returncode != 0 and "no mirror" in done.stderr
