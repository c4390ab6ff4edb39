"""Runs one program of Ansible's through ansible-runner: its events come in, nothing of it is left."""

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_runner import Runner, RunnerConfig
from ansible_runner.exceptions import AnsibleRunnerException

from nfvbed.errors import DeployError
from nfvbed.patience import patient
from nfvbed.sites.kolla.executor import leftovers
from nfvbed.sites.kolla.executor.events import PlaybookRun
from nfvbed.sites.kolla.executor.toolset import Toolset

INHERITED = ("HOME", "LANG", "LOGNAME", "PATH", "SSH_AUTH_SOCK", "TERM", "TMPDIR", "USER")
"""Variables of this process's environment; a program that prints a vault's password sees no more."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Ansible looks for interpreters on it: a user's own (pyenv's, ...) are not for tasks."""
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_OF_THE_RUNNER = ("ANSIBLE_", "AWX_", "RUNNER_")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_POLL_S = 1
_TASK_TIME_LIMIT_S = int(patient(5400))
"""For one task on one machine, above any that ends: an image over a slow line, Kolla's program that stops all
containers. A program that waits for input would else hold a stage for ever."""
_ALIVE = "-o ServerAliveInterval=5 -o ServerAliveCountMax=3 -o BatchMode=yes"
"""A machine that lost its power does not say so."""
SETTINGS = """\
[defaults]
host_key_checking = True
retry_files_enabled = False
display_skipped_hosts = False
localhost_warning = False
interpreter_python = auto_silent
nocolor = True
nocows = True
timeout = 15
task_timeout = {task}
forks = 10
roles_path = {roles}
collections_path = {collections}
home = {work}/home
local_tmp = {work}/tmp

[ssh_connection]
pipelining = True
retries = 1
control_path_dir = {work}/cp
ssh_args = -C -o ControlMaster=auto -o ControlPersist=60s {alive}
"""


@dataclass(frozen=True)
class Ansible:
    """The programs of an environment, run for one rack.

    Args:
        mark: variable of every process's environment, by which it is found.
    """

    tools: Toolset
    roles: Path
    mark: str

    def run(self, argv: Sequence[str], story: PlaybookRun, log: Path) -> int:
        """Run a program of the environment to its end, and return its exit status.

        What it and its children leave running is ended, also when this is interrupted.

        Args:
            argv: the program's name, and its arguments. No secret may be among them.
            log: file of what they print, without secrets.

        Raises:
            DeployError: ansible-runner could not run it.
        """
        collections = ":".join(map(str, self.tools.collections))
        with _work() as work:
            settings = SETTINGS.format(
                roles=self.roles, collections=collections, work=work, alive=_ALIVE, task=_TASK_TIME_LIMIT_S
            )
            (work / "ansible.cfg").write_text(settings)
            config = RunnerConfig(
                private_data_dir=str(work / "runner"),
                binary=str(self.tools.program(argv[0])),
                envvars=self._environment(work),
                quiet=True,
                fact_cache_type="",
            )
            try:
                return self._run(config, list(argv[1:]), story, log)
            except AnsibleRunnerException as failure:
                raise DeployError(
                    f"{argv[0]} could not be run",
                    where=str(self.tools.program(argv[0])),
                    observed=story.scrub(str(failure)),
                    fix="setup/kolla; then the same command",
                ) from None
            finally:
                leftovers.end(self.mark, gently=True)

    def _run(self, config: RunnerConfig, arguments: list[str], story: PlaybookRun, log: Path) -> int:
        config.prepare()
        # It takes these from files alone, and forgets what it was given.
        config.suppress_output_file, config.pexpect_timeout = True, _POLL_S
        config.command = [*config.command, *arguments]
        # The runner hands the whole environment on, and writes it down.
        config.env = {name: value for name, value in config.env.items() if _is_handed_on(name, value)}
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "a", buffering=1) as kept:

            def take(event: Mapping[str, Any]) -> bool:
                text = _COLOURS.sub("", story.take(event)).replace("\r", "")
                if text.strip():
                    kept.write(text.rstrip("\n") + "\n")
                return False  # nothing of it goes to the runner's own files

            runner = Runner(config, event_handler=take)
            runner.run()
        return int(runner.rc)

    def _environment(self, work: Path) -> dict[str, str]:
        return {
            "PATH": f"{self.tools.directory / 'bin'}:{_PATH}",
            "ANSIBLE_CONFIG": str(work / "ansible.cfg"),
            "ANSIBLE_HOST_KEY_CHECKING": "True",
            leftovers.VARIABLE: self.mark,
        }


def new_mark() -> str:
    """Return a mark that no other process has."""
    return secrets.token_hex(8)


def _is_handed_on(name: str, value: str) -> bool:
    """Return whether a variable is the runner's, ours, or one that programs need: no setting of a user's Ansible."""
    if name in (*INHERITED, *_PROXIES, leftovers.VARIABLE):
        return True
    return name.startswith(_OF_THE_RUNNER) and os.environ.get(name) != value


@contextmanager
def _work() -> Iterator[Path]:
    """Make a folder for this run: sockets' names must be short, and events pass through files in it."""
    work = Path(tempfile.mkdtemp(prefix="nfvbed-"))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
