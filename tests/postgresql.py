"""A PostgreSQL server for tests: unpacked privately, on a Unix socket in a folder of its own.

It refuses to run as root. Root runs it in a user namespace, in which its own files belong to an ordinary user: another
user of the machine could not reach a checkout in a folder that is root's alone.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

import psycopg

ROOT = Path(__file__).resolve().parents[1]
UNPACKED: Final = ROOT / ".nfvbed" / "postgresql"
LIBRARIES: Final = (UNPACKED / "usr/lib/x86_64-linux-gnu", UNPACKED / "lib/x86_64-linux-gnu")
PROGRAMS: Final = next(iter(sorted(UNPACKED.glob("usr/lib/postgresql/*/bin"))), UNPACKED)
USER: Final = pwd.getpwnam("daemon")
"""The server does not run as root; this user is there on every Debian."""
ORDINARY: Final = ("unshare", "--user", f"--map-user={USER.pw_uid}", f"--map-group={USER.pw_gid}", "--")
OWNER: Final = "nfvbed"
PASSWORD: Final = "an0ther-secret"
"""Password of the user who has one; it must be in no message."""
START_S: Final = 30
STOP_S: Final = 30
SETTINGS: Final = {
    "listen_addresses": "",
    # Else it takes pages of a pool that a data plane beside it has made, and keeps them.
    "huge_pages": "off",
    # Else parts of it are files in /dev/shm, which functional tests that run at the same time see come and stay.
    "dynamic_shared_memory_type": "mmap",
    "shared_buffers": "16MB",
    "max_connections": "40",
    "max_wal_size": "64MB",
    "autovacuum": "off",
    "jit": "off",
}


class Server:
    """One server with its data; removed when it is closed.

    Args:
        durable: what it has said to be written must survive the machine's death, as in use; else it is faster.
    """

    def __init__(self, *, durable: bool = True) -> None:
        if not (PROGRAMS / "postgres").exists():
            raise FileNotFoundError(f"{PROGRAMS}: there is no PostgreSQL for the tests: setup/postgresql unpacks it")
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self._durable = durable
        self._run("initdb", "-D", self.folder / "data", "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N")

    def url(self, database: str, user: str = OWNER) -> str:
        """Return the URL of a database, as `--store` takes it."""
        return f"postgresql+psycopg://{user}@/{database}?host={self.folder}"

    def start(self) -> None:
        """Start it, or start it again where it died; it answers when this returns."""
        settings = SETTINGS if self._durable else SETTINGS | {"fsync": "off"}
        argv = [PROGRAMS / "postgres", "-D", self.folder / "data", "-k", self.folder]
        argv += [f"--{name}={value}" for name, value in settings.items()]
        with (self.folder / "log").open("ab") as log:
            # It ends with the tests, however they end.
            self._process = subprocess.Popen(
                [*_ordinary(), "setpriv", "--pdeathsig", "INT", "--", *map(str, argv)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment(), cwd="/",
                start_new_session=True,
            )  # fmt: skip
        end = time.monotonic() + START_S
        while not self._answers():
            assert self._process.poll() is None and time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        """End it as an administrator does, without waiting for sessions; idempotent."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it as a lack of memory does: all of its processes at once, nothing is written any more."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        for pid in (self._process.pid, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        self._process.wait(STOP_S)
        for pid in children:
            _wait_for_end(int(pid))

    def close(self) -> None:
        """End it and remove its data."""
        if self._process is not None and self._process.poll() is not None and self._process.returncode < 0:
            self.start()  # One that was killed left a segment of shared memory, which the next start removes.
        self.stop()
        shutil.rmtree(self.folder)

    def database(self, template: str = "template0") -> str:
        """Make a database, and return its name."""
        self._databases += 1
        name = f"store{self._databases}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Execute a statement as the owner."""
        with psycopg.connect(host=str(self.folder), user=OWNER, dbname=database, autocommit=True) as connection:
            connection.execute(statement.encode())

    def _answers(self) -> bool:
        try:
            self.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(STOP_S)

    def _run(self, program: str, *arguments: object) -> None:
        argv = [*_ordinary(), str(PROGRAMS / program), *map(str, arguments)]
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=_environment(), cwd="/"
        )
        assert done.returncode == 0, f"{program} failed ({done.returncode}):\n{done.stdout}{done.stderr}"


def _ordinary() -> tuple[str, ...]:
    return ORDINARY if os.geteuid() == 0 else ()


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "LC_ALL": "C", "LD_LIBRARY_PATH": ":".join(map(str, LIBRARIES))}


def _wait_for_end(pid: int) -> None:
    end = time.monotonic() + STOP_S
    while _is_running(pid):
        assert time.monotonic() < end, f"process {pid} does not end"
        time.sleep(0.01)


def _is_running(pid: int) -> bool:
    """Whether a process runs; one that ended, and was not waited for yet, has no command line."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except FileNotFoundError:
        return False
