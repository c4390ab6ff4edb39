"""A network namespace with an sshd of its own: another host, as far as SSH and interfaces are concerned.

sshd is the one that `setup/openssh` unpacked. Its account file, keys and run folder are the test's, in a mount
namespace; it listens on one address inside the network namespace.
"""

import contextlib
import ipaddress
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from nfvbed.host.native import native_binary
from nfvbed.host.remote.connection import SshHost
from nfvbed.spec.remote import RemoteHostSpec
from tests.functional.disturbed import PATIENCE_S, wait_until
from tests.functional.xdp_driver import Namespace, ip

ROOT = Path(__file__).resolve().parents[2]
UNPACKED = ROOT / ".nfvbed" / "openssh"
WITHOUT_RIGHTS = "deployer"
"""Account that may sign in, and of which sudo's file says nothing."""
LIBRARIES = (UNPACKED / "usr/lib/x86_64-linux-gnu", UNPACKED / "lib/x86_64-linux-gnu")
PORT = 2222
_UID = 2001
_FIRST_OF_ALL = ipaddress.IPv4Address("198.18.128.0")
_NETWORKS = 8192
"""Networks of four addresses in the upper half of 198.18.0.0/16, which is for tests (RFC 2544)."""


def ends_of(process: int) -> tuple[str, str]:
    """Return the two addresses of a test process: tests of two checkouts may run at the same time."""
    first = _FIRST_OF_ALL + 4 * (process % _NETWORKS)
    return str(first + 1), str(first + 2)


HERE, THERE = ends_of(os.getpid())
SSHD = """
ListenAddress {there}:{port}
HostKey {folder}/host
AuthorizedKeysFile /run/authorized
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
AllowTcpForwarding no
AllowStreamLocalForwarding no
"""
"""Forwarding is off, as on a hardened host: nfvbed needs none."""
OF_CONNECTIONS = {"SshdSessionPath": "sshd-session", "SshdAuthPath": "sshd-auth"}
"""Programs of a connection, from OpenSSH 9.8 and 10.0 on, by the option that names where each is."""
START = """
set -e
mount --make-rprivate /
mount -t tmpfs nfvbed /run
mkdir -p /run/sshd
touch /run/authorized
mount --bind {folder}/authorized /run/authorized
mkdir -p /run/home/{user}
chown {uid}:{uid} /run/home/{user}
# The host has the sudo that was unpacked: its plugins and its file are looked for at fixed places.
for place in /etc /usr/bin /usr/libexec; do
    mount -t overlay nfvbed -o lowerdir={unpacked}$place:$place $place
done
mount --bind {folder}/passwd /etc/passwd
mount --bind {folder}/shadow /etc/shadow
mount --bind {folder}/group /etc/group
exec {sshd} -D -e -f {folder}/sshd_config
"""


class HostOfItsOwn:
    """The namespace, its sshd, and the files with which it is reached.

    Args:
        folder: for keys, configuration and the server's log.
    """

    def __init__(self, folder: Path) -> None:
        if not (UNPACKED / "usr/sbin/sshd").exists():
            raise FileNotFoundError(f"{UNPACKED}: there is no sshd for the tests: setup/openssh unpacks it")
        self.folder = folder
        self.namespace = Namespace()
        self._closed = False
        self._sshd: subprocess.Popen[bytes] | None = None
        self._link = f"nfvs{os.getpid() % 100000}"
        try:
            self._connect_hosts()
            self._write_files()
            self.start()
        except BaseException:
            self.close()
            raise

    def _connect_hosts(self) -> None:
        ip("link", "add", self._link, "type", "veth", "peer", "name", "control", "netns", self.namespace.name)
        ip("addr", "add", f"{HERE}/30", "dev", self._link)
        ip("link", "set", self._link, "up")
        ip("-n", self.namespace.name, "addr", "add", f"{THERE}/30", "dev", "control")
        ip("-n", self.namespace.name, "link", "set", "control", "up")

    def _write_files(self) -> None:
        for name in ("host", "key", "stranger"):
            argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "nfvbed", "-f", str(self.folder / name)]
            subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
        (self.folder / "authorized").write_text((self.folder / "key.pub").read_text())
        (self.folder / "known_hosts").write_text(self.known("host"))
        (self.folder / "passwd").write_text(
            f"root:x:0:0:root:{self.folder}:/bin/bash\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
            f"{WITHOUT_RIGHTS}:x:{_UID}:{_UID}::/run/home/{WITHOUT_RIGHTS}:/bin/bash\n"
        )
        (self.folder / "group").write_text(f"root:x:0:\nnogroup:x:65534:\n{WITHOUT_RIGHTS}:x:{_UID}:\n")
        (self.folder / "shadow").write_text(
            f"root:*:19000:0:99999:7:::\nsshd:!:19000::::::\n{WITHOUT_RIGHTS}:*:19000:0:99999:7:::\n"
        )
        config = SSHD.format(there=THERE, port=PORT, folder=self.folder)
        programs = {option: UNPACKED / "usr/lib/openssh" / name for option, name in OF_CONNECTIONS.items()}
        config += "".join(f"{option} {path}\n" for option, path in programs.items() if path.exists())
        (self.folder / "sshd_config").write_text(config)

    def known(self, key: str) -> str:
        """Return a line of known_hosts that says that the host has one of the keys."""
        kind, value, *_ = (self.folder / f"{key}.pub").read_text().split()
        return f"[{THERE}]:{PORT} {kind} {value}\n"

    def spec(self, **changes: object) -> RemoteHostSpec:
        """Return how it is reached."""
        return RemoteHostSpec.model_validate(self.keys() | changes)

    def keys(self) -> dict[str, object]:
        """Return the same, as a file has it."""
        return {
            "address": THERE,
            "port": PORT,
            "key": str(self.folder / "key"),
            "known_hosts": str(self.folder / "known_hosts"),
            "directory": str(self.folder),
            "connect_timeout_s": 3,
            "keepalive_s": 1,
            "lease_s": 20,
        }

    def host(self, **changes: object) -> SshHost:
        """Return it as the executor sees it, not connected yet."""
        return SshHost(self.spec(**changes), self.folder)

    def start(self) -> None:
        """Start the server; it answers when this returns."""
        places = {"folder": self.folder, "unpacked": UNPACKED.resolve(), "sshd": UNPACKED / "usr/sbin/sshd"}
        script = START.format(**places, user=WITHOUT_RIGHTS, uid=_UID)
        netns = f"/run/netns/{self.namespace.name}"
        argv = [str(native_binary("nfvbed-exec")), "--netns", netns, "--new-mount-ns", "--die-with-parent", "--"]
        libraries = ":".join(map(str, LIBRARIES))
        with (self.folder / "sshd.log").open("ab") as log:
            self._sshd = subprocess.Popen(
                [*argv, "sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | {"LD_LIBRARY_PATH": libraries},
                start_new_session=True,
            )
        log_file = self.folder / "sshd.log"
        assert wait_until(lambda: "Server listening" in log_file.read_text() or self._sshd.poll() is not None)
        assert self._sshd.poll() is None, log_file.read_text()

    def link(self, state: str) -> None:
        """Take the network between the hosts away (`down`), or bring it back (`up`)."""
        ip("-n", self.namespace.name, "link", "set", "control", state)

    def links(self) -> set[str]:
        """Return the names of its network interfaces."""
        return {link["ifname"] for link in json.loads(ip("-j", "-n", self.namespace.name, "link"))}

    def processes(self, word: str) -> list[int]:
        """Return the processes in its network namespace whose command line has a word."""
        found = []
        for pid in ip("netns", "pids", self.namespace.name).split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(int(pid))
        return found

    def close(self) -> None:
        """End the server and all that runs in the namespace, and remove it; idempotent."""
        if self._closed:
            return
        self._closed = True
        deadline = time.monotonic() + PATIENCE_S
        while (left := self.processes("")) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        if self._sshd is not None:
            self._sshd.wait(PATIENCE_S)
        with contextlib.suppress(subprocess.CalledProcessError):  # it was never made
            # With the namespace it would go some time later, and hold its name and address till then.
            ip("link", "del", self._link)
        self.namespace.close()
