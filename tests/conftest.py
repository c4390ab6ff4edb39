"""What all tests share: the tier of a test is its folder; functional tests need root and leave nothing behind."""

import gc
import os
import signal
import subprocess
from pathlib import Path

import pytest

from nfvbed.errors import NfvbedError
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.workspace.reap import reap
from nfvbed.report.drawing import DRAWING
from nfvbed.sites.lab.storeddeployment import find_remembered
from tests import footprint
from tests.functional import again

TESTS = Path(__file__).parent
ROOT = TESTS.parent
DEPLOYING = ("functional",)
"""Tiers that need the machine to themselves, without a deployment on it."""
WATCHED = (*DEPLOYING, "image", "browser")
"""Tiers that may leave something on this machine: it is looked at before the first test and after the last one."""
BEFORE = pytest.StashKey[footprint.Footprint]()
LEFT = pytest.StashKey[list[str]]()

CLEARS_UP_S = 600.0
"""Time for clearing up after a test that failed, at which pytest-timeout looks no more; a rack takes some minutes."""
LEFT_WITHIN_S = 30.0
"""What a process of the last tests had is gone by then: hugepages come back after the process that used them."""


def pytest_configure() -> None:
    """Take Ctrl-C back: what a shell starts in the background ignores it, and so would all that the tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # Until all is collected: of what that makes, nothing goes.


def tiers_of(config: pytest.Config) -> set[str]:
    """Return the folders below tests/ that a session was started with."""
    paths = [(config.invocation_params.dir / argument.partition("::")[0]).resolve() for argument in config.args]
    below = [path.relative_to(TESTS).parts for path in paths if path.is_relative_to(TESTS)]
    return {parts[0] for parts in below if parts} | ({*WATCHED} if () in below else set())


def pytest_sessionstart(session):
    """Look at the machine before the tests; where they run in several workers, only in the process that has them."""
    tiers = tiers_of(session.config)
    if hasattr(session.config, "workerinput") or not tiers & set(WATCHED):
        return
    if tiers & set(DEPLOYING):
        _start_from_a_free_host()
    session.config.stash[BEFORE] = footprint.take()


def pytest_collection_finish():
    """Have the garbage collector leave alone what collecting made: it stays to the end, and was gone through again and
    again.
    """
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol():
    """Give signals back what they did before a test: commands that are called in it have Ctrl-C and the end for
    themselves.
    """
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return (yield)
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown():
    """Have clearing up end after a test that failed, too."""
    if signal.getitimer(signal.ITIMER_REAL)[0]:
        return (yield)
    kept = signal.signal(signal.SIGALRM, _too_late)
    signal.setitimer(signal.ITIMER_REAL, CLEARS_UP_S)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)


def _too_late(*_: object) -> None:
    pytest.fail(f"clearing up takes more than {CLEARS_UP_S:g} s")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session):
    """Compare the machine after the last fixture and the last worker with what it was before; what is left fails."""
    result = yield
    DRAWING.end()  # Else it ends with this process: after the look.
    before = session.config.stash.get(BEFORE, None)
    left = session.config.stash[LEFT] = before.left_behind(LEFT_WITHIN_S) if before else []
    if left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    return result


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


def pytest_terminal_summary(terminalreporter, config):
    """Print what the tests left on this machine; which made something again, how often, and what was stolen then."""
    if left := config.stash.get(LEFT, []):
        terminalreporter.section("the tests left on this machine")
        terminalreporter.write_line("\n".join(left))
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


def _start_from_a_free_host() -> None:
    """Take away what a killed nfvbed left, as its next command would; refuse beside one at work or a deployment."""
    if os.geteuid() != 0:
        return  # the tests that need root say so themselves
    lock = HostLock()
    try:
        lock.acquire()
        reap(lock)
        remembered = find_remembered()
    except NfvbedError as failure:
        pytest.exit(str(failure), returncode=2)
    finally:
        lock.release()
    if remembered is not None:
        pytest.exit(f"{remembered.deployment.variant} is deployed on this host: make destroy, then test", returncode=2)
