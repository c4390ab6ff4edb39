"""A project of its own with a box, driven by the command line as its user does."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from nfvbed.cloud.box import images
from nfvbed.cloud.box.box import find_box
from nfvbed.cloud.box.places import IMAGES_DIRECTORY, ROOT_DIRECTORY, BoxPlaces
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.cgroups import unified_mount
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.spec.root import find_root
from tests.kolla.racks import Ran

Found = TypeVar("Found")
CHECKOUT = find_root(None)
POOL = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
LINKS = Path("/sys/class/net")
FOLDERS = ("deploy", "flavors", "images", "kolla", "native", "vnfd", "vsperf-conf")
PREPARED = ("images", "kolla", "uv")
"""Below .nfvbed: set-up makes them, and commands read them."""
WAIT_S = 60.0
DEPLOYED_S = 3600
"""Longer than any stage takes on a loaded machine."""
FAILED, INTERRUPTED = 20, 130
MACHINES = ("controller", "compute1", "compute2")
"""Those that Kolla deploys something on."""
SEND = """
import socket, sys
device, frame = sys.argv[1], bytes.fromhex(sys.argv[2])
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
    sender.bind((device, 0))
    for _ in range(20):
        sender.send(frame)
"""


class Rack:
    """A project with a box.

    Args:
        root: of the project.
        site: name of the box's site.
    """

    def __init__(self, root: Path, site: str) -> None:
        self.root = root
        self.site = site
        self.at = ("--site", site)
        self.deploy = ("deploy", "ovs-dpdk", *self.at)
        """A whole cloud."""
        self.destroy = ("destroy", *self.at, "--yes", site)
        self.places = BoxPlaces.of(root, site)
        self.cloud = RackPlaces.of(root, site)

    def nfvbed(self, *words: str, status: int = 0, timeout_s: float = 600) -> str:
        """Run a command that ends with this exit status; return what it printed."""
        done = self._run(words, timeout_s)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def goes_on(self, *words: str) -> str:
        """Run a command that deploys or destroys, and goes well; return all that it printed."""
        done = self._run(words, DEPLOYED_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def fails(self, *words: str) -> Ran:
        """Run one that a fault stops, and return what it said."""
        done = self._run(words, DEPLOYED_S)
        assert done.returncode == FAILED, done.stdout + done.stderr
        return Ran(done.returncode, done.stderr)

    def _run(self, words: tuple[str, ...], timeout_s: float) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "nfvbed", *words],
            env=self.environment,
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def refused(self, *words: str) -> str:
        """Run a command that is refused; return why."""
        done = self._run(words, DEPLOYED_S)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def is_verified(self) -> bool:
        """Return whether the cloud is as its variant wants it."""
        return self._run(("verify", *self.at, "--no-probe"), DEPLOYED_S).returncode == 0

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "NFVBED_ROOT": str(self.root)}

    def status(self):
        """Return what runs: all of it is well."""
        return json.loads(self.nfvbed("rack", "status", *self.at, "--json"))

    def look(self):
        """Return what runs, whether all of it is well or not."""
        return json.loads(self._run(("rack", "status", *self.at, "--json"), 120).stdout)

    def on(self, machine: str, *words: str) -> str:
        return self.nfvbed("rack", "shell", *self.at, machine, *words)

    def listen(self, machine, device, *words, within_s=60):
        """Start to listen; the frames are read from what this returns.

        Args:
            within_s: when it ends at the latest; a command that frames come of may begin minutes later.
        """
        box = find_box(open_project(self.root).load_site(self.site), self.root)
        argv = box.machine(machine).enter_argv(
            ["timeout", "--foreground", str(within_s), "tcpdump", "-lnne", "-i", device, *words]
        )
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        said = ""
        while "listening on" not in said:
            line = process.stdout.readline()
            assert line, f"{machine}: {said}"
            said += line
        return process

    def heard(self, listening, within_s=60.0):
        """Return what a listener has printed, after its last frame or so many seconds; nothing of it goes on."""
        try:
            return listening.communicate(timeout=within_s)[0]
        except subprocess.TimeoutExpired:
            os.killpg(listening.pid, signal.SIGTERM)
            return listening.communicate(timeout=WAIT_S)[0]

    def frames_came_both_ways(self, *variants: str) -> None:
        """Check that the newest run measured these and no others, and what became of their frames."""
        run = json.loads(self.nfvbed("export", "latest"))
        assert {cell["variant"]: cell["status"] for cell in run["cells"]} == dict.fromkeys(variants, "ok"), run["cells"]
        for cell in run["cells"]:
            trials = [one for one in run["trials"] if one["cell"] == cell["id"] and one["status"] == "ok"]
            ways = list(zip(*(trial["directions"] for trial in trials), strict=True))
            assert len(ways) == 2 and all(sum(one["received"] for one in way) > 0 for way in ways), cell["variant"]
            for way in ways:
                assert all(one["received"] <= one["sent"] for one in way)
                assert not any(one["duplicated"] or one["corrupted"] or one["reordered"] for one in way)

    def send(self, machine, device, destination, tag=None):
        header = destination + "020000000001" + ("" if tag is None else f"8100{tag:04x}")
        self.on(machine, "python3", "-c", SEND, device, header + "88b5" + "00" * 46)

    def traces(self) -> list[str]:
        """Return what is there of the box: processes by cgroup, cgroups, mounts, files."""
        mark = self.places.mark
        found = [str(path) for path in unified_mount().glob(f"{mark}*")]
        for path in Path("/proc").glob("[0-9]*/cgroup"):
            try:
                is_zombie = path.with_name("stat").read_text().rpartition(")")[2].split()[0] == "Z"
                found += [str(path) for line in path.read_text().splitlines() if mark in line and not is_zombie]
            except OSError:
                continue  # it has ended meanwhile
        found += [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(self.root) in line]
        return found + [str(path) for path in (self.places.run, self.places.machines) if path.exists()]

    # What is deployed on it.

    @contextmanager
    def begun(self, *words: str, stage: str, until: str, status: int) -> Iterator["PlaybookRun"]:
        """Start a command and wait until a stage's log has a text; with the block's end wait for the command's.

        Args:
            stage: one that is not under way yet.
            until: of a line of Ansible's, as `PLAY [Apply role keystone]`.
            status: exit status that it ends with.
        """
        log = self.cloud.logs / f"{stage}.log"
        log.unlink(missing_ok=True)
        output = self.root / "output"
        with output.open("w") as stream:
            process = subprocess.Popen(
                [sys.executable, "-m", "nfvbed", *words],
                env=self.environment,
                cwd=CHECKOUT,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        story = PlaybookRun(process, output)
        try:
            deadline = time.monotonic() + DEPLOYED_S
            while not (log.is_file() and until in log.read_text()):
                assert process.poll() is None and time.monotonic() < deadline, output.read_text()
                time.sleep(0.3)
            yield story
            process.wait(DEPLOYED_S)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(300)
        assert process.returncode == status, story.said

    def containers(self, machine: str) -> dict[str, str]:
        """Return the status of Kolla's containers on a machine by their names, as its engine says it."""
        listed = self.on(machine, "docker", "ps", "--all", "--format", "{{.Names}}\t{{.Status}}")
        return dict(line.split("\t") for line in listed.splitlines() if line)

    @contextmanager
    def lacking(self, image: str) -> Iterator[None]:
        """Take an image's tags out of the registry, and bring them back: this project has a registry of its own."""
        storage = self.root / IMAGES_DIRECTORY / "storage"
        (manifests,) = storage.glob(f"docker/registry/v2/repositories/*/{image}/_manifests")
        (manifests / "tags").rename(manifests / "absent")
        try:
            yield
        finally:
            (manifests / "absent").rename(manifests / "tags")

    @contextmanager
    def full(self, machine: str, folder: str) -> Iterator[None]:
        """Have a folder of a machine's be on a file system that takes nothing more, for what starts meanwhile."""
        self.on(machine, "mount", "-t", "tmpfs", "-o", "nr_inodes=1,mode=1777", "full", folder)
        try:
            yield
        finally:
            self.on(machine, "umount", folder)

    @contextmanager
    def password(self, name: str, value: str) -> Iterator[None]:
        """Have the file of passwords say another one, as a copy of an older file does."""
        text = self.cloud.passwords.read_text()
        changed = re.sub(rf"(?m)^{name}: .*$", f"{name}: {value}", text)
        assert changed != text
        self.cloud.passwords.write_text(changed)
        try:
            yield
        finally:
            self.cloud.passwords.write_text(text)


class PlaybookRun:
    """A command under way."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self._process = process
        self._output = output

    @property
    def said(self) -> str:
        """All that it has printed by now."""
        return self._output.read_text()

    @property
    def error(self) -> Ran:
        """What it ended with."""
        return Ran(self._process.returncode, self.said)

    def wait(self) -> None:
        """Wait for its end."""
        self._process.wait(DEPLOYED_S)

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)


def waited(what: str, until: Callable[[], Found], within_s: float = WAIT_S) -> Found:
    """Wait until something is so, and return it."""
    deadline = time.monotonic() + within_s
    while not (found := until()):
        assert time.monotonic() < deadline, what
        time.sleep(0.3)
    return found


@contextmanager
def made(root: Path, *, registry: bool, site: str = "box") -> Iterator[Rack]:
    """Make a project with a box; at the end nothing of it is left.

    Args:
        site: name of the box's site.
        registry: whether it has images of its own, of which tests take some away: links to those of the checkout,
            which are built where they are not there.
    """
    for folder in FOLDERS:
        (root / folder).symlink_to(CHECKOUT / folder)
    (root / ".nfvbed").mkdir()
    shared = CHECKOUT / ROOT_DIRECTORY
    shared.mkdir(parents=True, exist_ok=True)
    (root / ROOT_DIRECTORY).symlink_to(shared)
    for name in PREPARED:
        (root / ".nfvbed" / name).symlink_to(CHECKOUT / ".nfvbed" / name)
    if registry:
        built = images.storage(CHECKOUT, print)
        shutil.copytree(built, root / IMAGES_DIRECTORY / "storage", copy_function=os.link)
        shutil.copy(built.with_name("storage.json"), root / IMAGES_DIRECTORY)
    rack = Rack(root, site)
    pages, links = POOL.read_text(), {path.name for path in LINKS.iterdir()}
    try:
        yield rack
    finally:
        rack.nfvbed("rack", "stop", *rack.at)
    assert rack.traces() == []
    assert int(POOL.read_text()) <= int(pages) and {path.name for path in LINKS.iterdir()} == links
    shutil.rmtree(root)
