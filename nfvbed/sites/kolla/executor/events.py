"""Ansible's events, as ansible-runner passes them on: the task that runs, and what failed on which machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nfvbed.sites.kolla.executor.scrub import Scrubber
from nfvbed.sites.stages import Observer, Position

_TEXTS = ("msg", "stderr", "module_stderr", "stdout", "module_stdout", "reason", "censored")
"""Keys of a result; what says best why it failed comes first."""
_LINES = 8
"""The most lines of what a failed task said."""
_TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True)
class TaskFailure:
    """One task that failed on one machine."""

    host: str
    play: str
    role: str
    task: str
    said: str
    unreachable: bool = False

    @property
    def place(self) -> str:
        """Host, role and task, as messages name them."""
        return ", ".join((self.host, *(f"role {one}" for one in (self.role,) if one), f"task {self.task!r}"))


@dataclass
class PlaybookRun:
    """The course of one playbook's run, event by event."""

    scrub: Scrubber
    observer: Observer
    position: Position = Position()
    failures: dict[str, TaskFailure] = field(default_factory=dict)
    """The last one of each machine; it may have been rescued."""
    ended_badly: tuple[str, ...] = ()
    """Machines that failed or could not be reached in the end."""
    errors: list[str] = field(default_factory=list)
    """What Ansible said of itself, of no machine's task."""

    def take(self, event: Mapping[str, Any]) -> str:
        """Take an event in, and return its output without secrets."""
        kind, data = str(event.get("event", "")), event.get("event_data") or {}
        text = self.scrub(str(event.get("stdout") or ""))
        if kind == "playbook_on_play_start":
            self._move(Position(play=self._text(data, "name") or self._text(data, "play")))
        elif kind in ("playbook_on_task_start", "playbook_on_handler_task_start"):
            self._move(Position(self.position.play, self._text(data, "task")))
        elif kind in ("runner_on_ok", "runner_on_skipped"):
            self._answered(self._text(data, "host"))
        elif kind in ("runner_on_failed", "runner_on_unreachable", "runner_on_async_failed"):
            self._failed(data, unreachable=kind == "runner_on_unreachable")
        elif kind == "playbook_on_stats":
            # Sorted: which machine ended first differs from run to run.
            ended = [*sorted(data.get("dark", {})), *sorted(data.get("failures", {}))]
            self.ended_badly = tuple(dict.fromkeys(ended))
        elif kind in ("error", "verbose") and text.strip():
            self._note(text)
        return text

    def final_failures(self) -> tuple[TaskFailure, ...]:
        """Return the failures that ended the run: not those that a playbook rescued."""
        return tuple(self.failures[host] for host in self.ended_badly if host in self.failures)

    def _note(self, text: str) -> None:
        """Keep Ansible's own messages, from its first error on."""
        if self.errors or "ERROR" in text:
            self.errors.append(text.rstrip())

    def _move(self, position: Position) -> None:
        self.position = position
        self.observer.at(position)

    def _answered(self, host: str) -> None:
        if host and host not in self.position.hosts:
            self._move(Position(self.position.play, self.position.task, (*self.position.hosts, host)))

    def _failed(self, data: Mapping[str, Any], *, unreachable: bool) -> None:
        if data.get("ignore_errors") and not unreachable:
            return
        host = self._text(data, "host")
        self.failures[host] = TaskFailure(
            host=host,
            play=self._text(data, "play"),
            role=self._text(data, "role"),
            task=self._text(data, "task"),
            said=self.scrub(said_in(data.get("res") or {})),
            unreachable=unreachable,
        )

    def _text(self, data: Mapping[str, Any], key: str) -> str:
        return self.scrub(str(data.get(key) or ""))


def said_in(result: Mapping[str, Any]) -> str:
    """Return why a task failed; of a loop, why the first item did."""
    for item in result.get("results") or ():
        if isinstance(item, Mapping) and (item.get("failed") or item.get("unreachable")):
            label = item.get("_ansible_item_label", item.get("item"))
            named = f"{label}: " if isinstance(label, str) else ""
            return named + said_in(item)
    first, *others = (_lines(result.get(key)) for key in _TEXTS)
    # A program says why at its end: containers of Kolla's first tell of each file that they copy.
    shown = list(dict.fromkeys(first))[:_LINES]
    rest = [line for line in dict.fromkeys(line for lines in others for line in lines) if line not in shown]
    shown += rest[max(len(rest) - (_LINES - len(shown)), 0) :]
    return "\n".join(shown) or str(result.get("exception") or "it said nothing")


def _lines(value: Any) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    return [line.rstrip() for text in texts if text for line in _reason(str(text)) if line.strip()]


def _reason(text: str) -> list[str]:
    """Return a text's lines; of a Python traceback what it ends with, which is why.

    Kolla's modules hand tracebacks on, `kolla_container` as one line with its escapes.
    """
    if _TRACEBACK not in text:
        return text.splitlines()
    lines = text.strip("'\"").replace("\\n", "\n").replace("\\'", "'").splitlines()
    of_frames = [number for number, line in enumerate(lines) if line.startswith(("  ", _TRACEBACK))]
    return lines[of_frames[-1] + 1 :] or lines
