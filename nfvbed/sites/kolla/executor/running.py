"""Runs stages in order; the journal always knows the current one, and the outcome of those before."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import InterruptedRunError, NfvbedError, PrerequisiteError
from nfvbed.sites.kolla.executor import containers, leftovers
from nfvbed.sites.kolla.executor import journal as journals
from nfvbed.sites.kolla.executor.ansible import Ansible, new_mark
from nfvbed.sites.kolla.executor.containers import FailingContainers
from nfvbed.sites.kolla.executor.events import PlaybookRun
from nfvbed.sites.kolla.executor.failures import StageFailed, stage_failed
from nfvbed.sites.kolla.executor.journal import Journal, Outcome
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.scrub import Scrubber
from nfvbed.sites.kolla.executor.stages import ROLES, Stage
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.sites.kolla.executor.vault import Vault
from nfvbed.sites.stages import Observer
from nfvbed.spec.site import KollaSiteSpec


@dataclass(frozen=True)
class Rack:
    """The surroundings of the stages of one rack."""

    root: Path
    site: KollaSiteSpec
    places: RackPlaces
    tools: Toolset
    observer: Observer


def require_playbooks(stages: Sequence[Stage]) -> None:
    """Make sure that nfvbed's playbooks are there, before anything is changed.

    Raises:
        PrerequisiteError: one is not.
    """
    missing = [str(stage.playbook) for stage in stages if stage.playbook is not None and not stage.playbook.is_file()]
    if missing:
        raise PrerequisiteError(
            "a playbook of nfvbed's is missing",
            where=missing[0],
            observed="there is no such file",
            fix="take a complete checkout of nfvbed",
        )


def run_stages(rack: Rack, stages: Sequence[Stage], found: Journal, scrub: Scrubber) -> Journal:
    """Run all stages that are not done yet, and return the changed journal.

    Raises:
        StageFailed: one stopped; with the machine, the task and the next step.
        InterruptedRunError: Ctrl-C or SIGTERM; Ansible has ended.
    """
    for number, stage in enumerate(stages, 1):
        if found.is_done(stage.name):
            rack.observer.say(f"[{number}/{len(stages)}] {stage.name}: done already, {found.stages[stage.name].at}")
            continue
        rack.observer.begin(number, len(stages), stage.name, stage.summary)
        found = _run(rack, stage, found, scrub)
    return found


def end_leftovers(found: Journal | None, observer: Observer) -> None:
    """End the processes that a killed nfvbed left running for a rack."""
    if found is None or not found.mark:
        return
    ended = leftovers.end(found.mark)
    if ended:
        observer.say(f"ended what a killed nfvbed had left running: {ended} processes of Ansible's")


def _run(rack: Rack, stage: Stage, found: Journal, scrub: Scrubber) -> Journal:
    mark, started = new_mark(), time.monotonic()
    used = found.passwords_used or stage.gives_passwords
    found = found.model_copy(update={"mark": mark, "passwords_used": used}).noted(stage.name, "begun")
    journals.write(rack.places, found)
    story = PlaybookRun(scrub, rack.observer)
    log = rack.places.logs / f"{stage.name}.log"
    log.unlink(missing_ok=True)
    argv = (*stage.argv(rack.places), *Vault.of(rack.site, rack.tools).options)
    try:
        status = Ansible(rack.tools, rack.root / ROLES, mark).run(argv, story, log)
        if status:
            raise _failed(rack, stage, found, story, log)
    except KeyboardInterrupt:
        seconds = time.monotonic() - started
        rack.observer.end("interrupted", seconds)
        journals.write(rack.places, found.noted(stage.name, "interrupted", seconds, str(story.position)))
        raise InterruptedRunError(
            f"{stage.name} on site {rack.site.name} was interrupted",
            where=str(story.position) or "before its first task",
            observed="Ansible and all that it started here have ended; a task under way on a machine ends there",
            fix="the same command continues with this stage",
        ) from None
    except NfvbedError as failure:
        seconds = time.monotonic() - started
        rack.observer.end("failed", seconds)
        place = failure.place if isinstance(failure, StageFailed) else str(story.position)
        journals.write(rack.places, found.noted(stage.name, "failed", seconds, place))
        raise
    seconds = time.monotonic() - started
    parts = ", ".join(stage.tags)
    rack.observer.end(f"done for {parts}" if parts else "done", seconds)
    outcome: Outcome = "partial" if parts else "done"
    found = found.model_copy(update={"mark": ""}).noted(stage.name, outcome, seconds, parts)
    journals.write(rack.places, found)
    return found


def _failed(rack: Rack, stage: Stage, found: Journal, story: PlaybookRun, log: Path) -> StageFailed:
    """Return the error of a stage, with what containers say where the machines have some."""
    asked = FailingContainers()
    if (found.passwords_used or stage.uses_engine) and story.final_failures():
        asked = containers.ask_all(rack.site, story.final_failures(), story.scrub)
        with log.open("a") as kept:
            kept.writelines(f"{line}\n" for line in containers.whole(asked))
    return stage_failed(f"{stage.name} on site {rack.site.name}", story, rack.site, str(log), asked)
