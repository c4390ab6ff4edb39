"""The programs' own unit tests, compiled with AddressSanitizer: damaged frames, files of anything, options."""

import subprocess

import pytest

from nfvbed.host.native import build_directory


@pytest.mark.parametrize("name", ["packet", "table"])
def test_nothing_is_read_outside_of_the_input(name):
    program = build_directory() / "tests" / f"test_gateway_{name}"
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
