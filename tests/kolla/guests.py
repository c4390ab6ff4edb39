"""Real Debian machines on which Ansible roles are tried: QEMU's, emulated, reached over SSH with checked host keys.

Each starts from the disk that `setup/kolla-guest` built, with its own GRUB, two NUMA nodes with a core each, an IOMMU
and a NIC that has virtual functions (QEMU's igb). What a guest writes goes to a file of the test's; nothing listens but
a port on the loopback, for SSH.
"""

import contextlib
import io
import json
import os
import re
import shlex
import socket
import subprocess
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nfvbed.host.qemu.binaries import QemuBinaries, locate
from nfvbed.sites.guest_node.devices import devices

ROOT = Path(__file__).resolve().parents[2]
DISK = ROOT / ".nfvbed" / "kolla-guest" / "disk.qcow2"
ENVIRONMENT = ROOT / ".nfvbed" / "kolla"
PLAYBOOKS = ROOT / "deploy" / "playbooks"
NAME = "compute1"
IGB = "0000:01:00.0"
"""PCI address of the NIC that has virtual functions, seven at most; the one for management is virtio's."""
NODES_MIB = (1024, 1024)
"""Memory of the NUMA nodes: below 4 GiB, where igb's functions have to have their registers."""
START_S, ANSWER_S, PLAY_S = 600, 180, 1800
_RECAP = re.compile(r"^(\S+)\s+: (ok=.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Played:
    """What a playbook did."""

    status: int
    output: str
    seconds: float

    @property
    def counts(self) -> dict[str, int]:
        """Counts of the guest's tasks: `ok`, `changed`, `unreachable`, `failed`, `skipped`, ..."""
        found = dict(_RECAP.findall(self.output))
        return {key: int(value) for key, _, value in (pair.partition("=") for pair in found[NAME].split())}


class Guest:
    """A machine; a context that starts it and takes it away.

    Args:
        folder: of the test's: disk, keys, console and Ansible's files.
        nodes_mib: memory of the two NUMA nodes.
        shared: a folder of this machine whose files it can read: `mount -t 9p shared /mnt`.
    """

    def __init__(self, folder: Path, nodes_mib: tuple[int, int] = NODES_MIB, shared: Path | None = None) -> None:
        self.folder = folder
        self.nodes_mib = nodes_mib
        self.shared = shared
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    def __enter__(self) -> Self:
        assert DISK.is_file(), f"{DISK} is not there: run setup/kolla-guest"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_keys()
        binaries = locate(ROOT)
        self._make_disk(binaries)
        try:
            self._start(binaries)
            self.wait()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def console(self) -> str:
        """What its firmware, GRUB and kernel printed."""
        file = self.folder / "console.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def run(self, *argv: str, check: bool = True, timeout_s: float = ANSWER_S) -> str:
        """Run a command in the guest as root, and return what it prints.

        Raises:
            AssertionError: it fails, and `check` is set.
        """
        words = ["ssh", *self._ssh_words, "-p", str(self._port), "root@127.0.0.1", shlex.join(argv)]
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        assert not check or done.returncode == 0, f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def read(self, path: str) -> str:
        """Return a file's text, without white space at its ends."""
        return self.run("cat", path).strip()

    def has(self, path: str) -> bool:
        """Whether there is such a file, folder or link."""
        return self.run("ls", "-d", path, check=False).strip() == path

    def driver(self, address: str) -> str:
        """Return the driver of a PCI device; empty: it has none."""
        return Path(self.run("readlink", f"/sys/bus/pci/devices/{address}/driver", check=False).strip()).name

    def boot_id(self) -> str:
        """Return what is another one after each start."""
        return self.read("/proc/sys/kernel/random/boot_id")

    def restart(self) -> None:
        """Have it start again, through its firmware and GRUB, and wait for it."""
        before = self.boot_id()
        self.run("systemctl", "reboot", check=False)
        deadline = time.monotonic() + START_S
        while True:
            time.sleep(2)
            with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
                if self.boot_id() != before:
                    return
            assert time.monotonic() < deadline, f"it has not started again\n{self.console[-3000:]}"

    def wait(self) -> None:
        """Wait until it answers."""
        deadline = time.monotonic() + START_S
        while not self._answers():
            assert self._process is not None and self._process.poll() is None, f"QEMU ended\n{self._log()}"
            assert time.monotonic() < deadline, f"no answer after {START_S} s\n{self._log()}"
            time.sleep(2)

    def play(self, playbook: str | Path, variables: Mapping[str, Any], more: Sequence[str] = ()) -> Played:
        """Run a playbook for the guest, which is in the groups `compute` and `network`.

        Args:
            playbook: a name in deploy/playbooks, or a file.
            variables: of the guest, as inventory/host_vars has them.
            more: further arguments of ansible-playbook.
        """
        inventory = self.folder / "inventory"
        inventory.mkdir(exist_ok=True)
        words = {"ansible_host": "127.0.0.1", "ansible_port": self._port, "ansible_user": "root"}
        words["ansible_ssh_common_args"] = shlex.join(self._ssh_words)
        words["ansible_python_interpreter"] = "/usr/bin/python3"
        document = {group: {"hosts": {NAME: {}}} for group in ("compute", "network")}
        document["control"] = {"hosts": {}}
        document["compute"]["hosts"][NAME] = {**words, **variables}
        (inventory / "hosts.yml").write_text(json.dumps(document))
        (self.folder / "ansible.cfg").write_text(
            "[defaults]\nhost_key_checking = true\nretry_files_enabled = false\ninterpreter_python = auto_silent\n"
            f"local_tmp = {self.folder / 'tmp'}\n"
            f"[ssh_connection]\npipelining = true\ncontrol_path_dir = {self._control}\n"
        )
        path = playbook if isinstance(playbook, Path) else PLAYBOOKS / playbook
        argv = [str(ENVIRONMENT / "bin/ansible-playbook"), "-i", str(inventory), *more, str(path)]
        started = time.monotonic()
        done = subprocess.run(
            argv,
            env=self._environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PLAY_S,
            check=False,
        )
        with (self.folder / "ansible.log").open("a") as log:
            log.write(done.stdout)
        return Played(done.returncode, done.stdout, time.monotonic() - started)

    def close(self) -> None:
        """End it; idempotent."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        for name in ("disk.qcow2", "keys.tar"):
            (self.folder / name).unlink(missing_ok=True)

    def _answers(self) -> bool:
        return self.run("echo", "here", check=False).strip() == "here"

    def _log(self) -> str:
        return (self.folder / "qemu.log").read_text() + self.console[-3000:]

    @property
    def _control(self) -> Path:
        folder = self.folder / "c"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def _ssh_words(self) -> list[str]:
        options = {
            "BatchMode": "yes",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": str(self.folder / "known_hosts"),
            "GlobalKnownHostsFile": "/dev/null",
            "IdentityFile": str(self.folder / "key"),
            "IdentitiesOnly": "yes",
            "ConnectTimeout": "20",
            "ServerAliveInterval": "10",
        }
        return ["-F", "none", *(word for key, value in options.items() for word in ("-o", f"{key}={value}"))]

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "ANSIBLE_CONFIG": str(self.folder / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(ROOT / "deploy" / "roles"),
            "ANSIBLE_NOCOLOR": "1",
        }

    def _write_keys(self) -> None:
        """Make keys of the guest and of who enters it; the guest gets its own on a disk that is a tar archive."""
        for name in ("host", "key"):
            argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "nfvbed", "-f", str(self.folder / name)]
            subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=ANSWER_S)
        (self.folder / "authorized").write_text((self.folder / "key.pub").read_text())
        with tarfile.open(self.folder / "keys.tar", "w") as archive:
            for name in ("host", "host.pub", "authorized"):
                content = (self.folder / name).read_bytes()
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(content), 0o600
                archive.addfile(member, io.BytesIO(content))
        (self.folder / "keys.tar").chmod(0o600)

    def _make_disk(self, binaries: QemuBinaries) -> None:
        argv = [str(binaries.image_tool), "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(DISK.resolve())]
        subprocess.run(
            [*argv, str(self.folder / "disk.qcow2")],
            env=os.environ | binaries.environment,
            check=True,
            stdin=subprocess.DEVNULL,
            timeout=ANSWER_S,
        )

    def _start(self, binaries: QemuBinaries) -> None:
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self._port = chosen.getsockname()[1]
        kind, value, *_ = (self.folder / "host.pub").read_text().split()
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self._port} {kind} {value}\n")
        # It ends with the test, however that ends.
        argv = ["setpriv", "--pdeathsig", "KILL", "--", *machine(binaries, self, self._port)]
        with (self.folder / "qemu.log").open("wb") as log:
            self._process = subprocess.Popen(
                argv, env=os.environ | binaries.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )


def machine(binaries: QemuBinaries, guest: Guest, port: int) -> list[str]:
    """Return QEMU's command line."""
    folder, nodes_mib = guest.folder, guest.nodes_mib
    kinds = devices(("iommu", "igb"))
    options = dict.fromkeys(option for kind in kinds for option in kind.machine)
    words = [str(binaries.program), *binaries.firmware, "-nodefaults", "-no-user-config", "-display", "none"]
    words += ["-name", "guest=nfvbed-roles", "-M", ",".join(("q35", "graphics=off", *options))]
    words += ["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2,sockets=2", "-m", str(sum(nodes_mib))]
    for node, size_mib in enumerate(nodes_mib):
        words += ["-object", f"memory-backend-ram,id=memory{node},size={size_mib}M"]
        words += ["-numa", f"node,nodeid={node},cpus={node},memdev=memory{node}"]
    words += ["-serial", f"file:{folder / 'console.log'}", "-device", "virtio-rng-pci"]
    words += ["-drive", f"if=none,id=disk,format=qcow2,cache=unsafe,file={folder / 'disk.qcow2'}"]
    words += ["-device", "virtio-blk-pci,drive=disk,bootindex=0"]
    words += ["-drive", f"if=none,id=keys,format=raw,readonly=on,file={folder / 'keys.tar'}"]
    words += ["-device", "virtio-blk-pci,drive=keys,serial=keys"]
    if guest.shared:
        # Not a disk: no kernel looks for partitions on it.
        words += ["-fsdev", f"local,id=shared,path={guest.shared.resolve()},security_model=none,readonly=on"]
        words += ["-device", "virtio-9p-pci,fsdev=shared,mount_tag=shared"]
    words += ["-netdev", f"user,id=management,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"]
    words += ["-device", "virtio-net-pci,netdev=management,mac=52:54:00:4e:46:00"]
    return words + [word for kind in kinds for word in kind.arguments]
