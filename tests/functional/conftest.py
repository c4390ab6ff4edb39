"""Fixtures of the XDP engine's tests: a network namespace, a generator looped back in it, one beside a relay.

And the image of virtual machines, built where it is not; and the host before a test and after it. And which tests run
beside the others.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.network.namespaces import NETNS_DIRECTORY
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.planes import LabPlanes
from tests.functional import lanes
from tests.functional.lab_host import MARK, ROOT, assert_back_to, left_as_found, run, snapshot
from tests.functional.ssh_host import HostOfItsOwn
from tests.functional.xdp_driver import Generator, Namespace, start_relay


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark those that `tests/tiers.py` runs beside the others: they say that they take no hugepages, and so does what
    they are given.
    """
    for item in items:
        if item.get_closest_marker("no_hugepages") and not lanes.takes_hugepages(item):
            item.add_marker("beside")


@pytest.fixture(autouse=True)
def _asks_for_no_hugepages():
    """Beside the others there are none, and a test that asks for some fails, also where it expected to get none."""
    before = lanes.pools_written()
    yield
    assert lanes.pools_written() == before, "it asks for hugepages: it cannot have the mark no_hugepages"


@pytest.fixture(autouse=True, scope="session")
def _signals_as_a_terminal_gives_them():
    """Let what tests start hear signals: `nohup` and a shell's background have some ignored, and that is passed on."""
    for number, usual in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.fixture(autouse=True, scope="session")
def _folder_of_namespaces_goes_where_there_was_none():
    """Tests make namespaces as `ip netns` does, and so its folder."""
    there = NETNS_DIRECTORY.is_dir()
    yield
    if not there:
        with contextlib.suppress(OSError):
            NETNS_DIRECTORY.rmdir()


@pytest.fixture(name="namespace")
def _namespace():
    namespace = Namespace()
    yield namespace
    namespace.close()


@pytest.fixture(name="loop")
def _loop(namespace, tmp_path):
    namespace.pair("nfvta", "nfvtb")
    generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
    yield generator
    generator.close()


@pytest.fixture(scope="module", name="shared_loop")
def _shared_loop(tmp_path_factory):
    """As `loop`, one for all tests of a module that leave it as good as it was."""
    namespace = Namespace()
    namespace.pair("nfvta", "nfvtb")
    generator = Generator(namespace, tmp_path_factory.mktemp("loop") / "s", ("nfvta", "nfvtb"))
    yield generator
    generator.close()
    namespace.close()


@pytest.fixture(name="through_relay")
def _through_relay(namespace, tmp_path):
    """A generator whose frames go through a relay that does the harm given."""
    started = []

    def start(harm):
        relay = start_relay(namespace, harm)
        started.append(relay)
        generator = Generator(namespace, tmp_path / "s", ("nfvta", "nfvtb"))
        started.append(generator.process)
        return generator

    yield start
    for process in started[::-1]:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(name="mark")
def _mark():
    """What a test's processes are found by."""
    return uuid.uuid4().hex


def lab_of_project():
    """The site's file and the root, as sites are opened with."""
    project = open_project()
    return project.load_site("lab"), project.root


@pytest.fixture(name="lab")
def _lab(monkeypatch, mark):
    """The data planes of the lab, without VNFs; the host is as before after the test."""
    monkeypatch.setenv(MARK, mark)
    with left_as_found(LabPlanes(LabMachine(*lab_of_project())), mark) as site:
        yield site


@pytest.fixture(name="lab_with_vnfs")
def _lab_with_vnfs(monkeypatch, mark):
    """The lab as commands open it, whose deployments have VNFs; the host is as before after the test."""
    monkeypatch.setenv(MARK, mark)
    with left_as_found(open_site(*lab_of_project()), mark) as site:
        yield site


@pytest.fixture(scope="module", name="far")
def _far():
    """Another host: a network namespace with an sshd of its own."""
    with tempfile.TemporaryDirectory(prefix="ssh-") as folder:
        other = HostOfItsOwn(Path(folder))
        yield other
        other.close()


@pytest.fixture(name="before")
def _before(mark):
    """The host as it was; and it is the same after the test."""
    found = snapshot(mark)
    assert found["run"] is None, "something is deployed on this host: nfvbed destroy"
    yield found
    if snapshot(mark) != found:
        # A test that failed must not make the next ones fail.
        run(mark, "verb", "destroy")
    assert_back_to(found, mark)


@pytest.fixture(name="nfvbed")
def _nfvbed(before, mark):
    """Starts nfvbed, or a program that calls it; what still runs when the test ends is killed, before the host is
    looked at.
    """
    started = []

    def start(*arguments, program=("-m", "nfvbed")):
        process = subprocess.Popen(
            [sys.executable, *program, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {MARK: mark, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.fixture(name="ask")
def _ask(nfvbed):
    """Runs nfvbed to its end; gives exit status, output and errors."""

    def ask(*arguments, **how):
        process = nfvbed(*arguments, **how)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    return ask
