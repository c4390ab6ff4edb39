"""One run of kolla-ansible for each case, two at a time, however many tests read it.

Nobody waits in silence: while a test waits for Kolla, what the runs are at is written every 20 s.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from functools import cache
from pathlib import Path

import pytest

from tests.kolla import ocata
from tests.kolla.cases import CASES, read_by
from tests.kolla.genconfig import ENVIRONMENT, Case, Services, genconfig, make_passwords, share_with_doubles, task_at

AT_ONCE = 2
SAID_EVERY_S = 20.0


class Runs:
    """Runs of Kolla that were asked for."""

    def __init__(
        self, folder: Path, pool: ThreadPoolExecutor, say: Callable[[str], None], wanted: Iterable[str]
    ) -> None:
        self.folder, self._pool, self._say, self._wanted = folder, pool, say, tuple(wanted)
        self._made: dict[str, Future[Services]] = {}
        self._started: dict[str, float] = {}
        self._maintained, self._ocata = cache(self._prepare_maintained), cache(self._prepare_ocata)

    def services(self, name: str) -> Services:
        """Return what Kolla made of a case; with the first one all are begun that the chosen tests read."""
        for other in (*self._wanted, name):
            if other not in self._made:
                self._made[other] = self._pool.submit(self._make, other, self._prepared(CASES[other]))
        while True:
            try:
                return self._made[name].result(SAID_EVERY_S)
            except NotYet:
                self._say(self._now())

    def _prepared(self, case: Case) -> tuple[Path, Path]:
        return self._ocata() if case.release == "ocata" else self._maintained()

    def _make(self, name: str, prepared: tuple[Path, Path]) -> Services:
        self._started[name] = time.monotonic()
        case = CASES[name]
        place = self._place(case)
        place.mkdir()
        return (ocata.playbook if case.release == "ocata" else genconfig)(case, place, *prepared)

    def _now(self) -> str:
        running = [name for name, made in self._made.items() if made.running() and name in self._started]
        told = [
            f"{name}: {time.monotonic() - self._started[name]:.0f} s, {task_at(self._place(CASES[name]))}"
            for name in running
        ]
        done = sum(made.done() for made in self._made.values())
        return "\n".join((f"kolla-ansible: {done} of {len(self._made)} runs made", *told))

    def _place(self, case: Case) -> Path:
        return self.folder / case.name

    def _prepare_maintained(self) -> tuple[Path, Path]:
        assert (ENVIRONMENT / "bin/kolla-ansible").is_file(), "kolla-ansible is not there: run setup/kolla"
        share = share_with_doubles(self.folder)
        return share, make_passwords(self.folder, share)

    def _prepare_ocata(self) -> tuple[Path, Path]:
        assert (ocata.ENVIRONMENT / "bin/ansible-playbook").is_file(), "Ocata's Ansible is missing: setup/kolla-ocata"
        share = ocata.share_with_double(self.folder)
        return share, ocata.make_passwords(self.folder, share)


@pytest.fixture(scope="session", name="services")
def _services(tmp_path_factory, request) -> Iterator[Callable[[str], Services]]:
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(text: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n  {text.replace(chr(10), chr(10) + '  ')}", flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield Runs(tmp_path_factory.mktemp("kolla"), pool, say, _read_by_tests(request.session.items)).services
        pool.shutdown(cancel_futures=True)


def _read_by_tests(items: Iterable[pytest.Item]) -> tuple[str, ...]:
    """Return the cases that chosen tests read, each once; those of a known order first."""
    parameters = [one.callspec.params.values() for one in items if hasattr(one, "callspec")]
    names = {name for values in parameters for name in read_by(values)}
    return tuple(name for name in CASES if name in names)
