"""What all tests share: the tier of a test is its folder; functional tests need root and leave nothing behind."""

import os
import signal
import subprocess
from pathlib import Path

import again
import footprint
import pytest

from nfvbed.errors import NfvbedError
from nfvbed.host.hostlock import HostLock
from nfvbed.host.reap import reap
from nfvbed.sites.lab.remembered import find_remembered

TESTS = Path(__file__).parent
ROOT = TESTS.parent
MACHINE_TIERS = ("functional", "browser")
"""Tiers that deploy on this machine."""


def pytest_configure() -> None:
    """Take Ctrl-C back: what a shell starts in the background ignores it, and so would all that the tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def tier_of(path: Path) -> str:
    """Give the folder below tests/ that a test is in."""
    return path.relative_to(TESTS).parts[0]


@pytest.fixture(scope="session", name="root")
def _root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(autouse=True)
def _made_again(request):
    """Have the report say how often a test made something again."""
    yield
    if request.node.nodeid in again.AGAIN:
        request.node.user_properties.append(("again", again.described(request.node.nodeid)))


def pytest_terminal_summary(terminalreporter):
    """Print which tests made something again, how often, and what was stolen meanwhile."""
    if again.AGAIN:
        terminalreporter.section("made again")
    for name in again.AGAIN:
        terminalreporter.write_line(f"{name}: {again.described(name)}")


@pytest.fixture(scope="session", name="vloop_image")
def _vloop_image():
    """Build the image of the VNF vloop, or find it built from the same input; what it lacks fails."""
    done = subprocess.run(
        [ROOT / "setup/images"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"make images failed ({done.returncode}):\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left(request):
    """Compare the machine before and after the tiers that deploy; what is left is an error of the session."""
    tiers = {tier_of(item.path) for item in request.session.items if item.path.is_relative_to(TESTS)}
    if not tiers & set(MACHINE_TIERS):
        yield
        return
    _start_from_a_free_host()
    before = footprint.take()
    yield
    left = before.left_behind()
    if left:
        pytest.fail("the tests left on this machine:\n" + "\n".join(left), pytrace=False)


def _start_from_a_free_host() -> None:
    """Take away what a killed nfvbed left, as its next command would; refuse beside one at work or a deployment."""
    if os.geteuid() != 0:
        return  # the tests that need root say so themselves
    lock = HostLock()
    try:
        lock.acquire()
        reap(lock)
        standing = find_remembered()
    except NfvbedError as failure:
        pytest.exit(str(failure), returncode=2)
    finally:
        lock.release()
    if standing is not None:
        pytest.exit(f"{standing.deployment.variant} stands on this host: make destroy, then test", returncode=2)
