"""From what Ansible reports to an error that names the machine, the task and the next step."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nfvbed.errors import DeployError
from nfvbed.host.remote.failures import refused
from nfvbed.sites.kolla.executor.containers import FailingContainers
from nfvbed.sites.kolla.executor.events import PlaybookRun, TaskFailure
from nfvbed.spec.site import KollaSiteSpec

_OTHERS_SHOWN = 4
NOT_ASKED = FailingContainers()


class StageFailed(DeployError):
    """A stage stopped; what was done before stays, and the same command goes on there."""

    def __init__(self, what: str, *, where: str, observed: str, fix: str, place: str) -> None:
        super().__init__(what, where=where, observed=observed, fix=fix)
        self.place = place
        """Host and task, for the journal."""


@dataclass(frozen=True)
class _Case:
    said: re.Pattern[str]
    fix: Callable[[TaskFailure, KollaSiteSpec], str]
    of_containers: bool = False
    """Whether a container's own lines say it too, and mean the same."""


def _sudo(failure: TaskFailure, site: KollaSiteSpec) -> str:
    access = site.reached(failure.host) if failure.host in site.hosts else None
    user = access.user if access else "the user that Ansible signs in as"
    return (
        f"let {user} use sudo without a password on {failure.host}: `{user} ALL=(ALL) NOPASSWD: ALL` in /etc/sudoers.d"
    )


def _no_image(_failure: TaskFailure, site: KollaSiteSpec) -> str:
    built = f"; nfvbed rack start --site {site.name} builds those that a box has" if site.is_box else ""
    return (
        "the registry has no such image: push it there, or correct its name or its tag in"
        f" .nfvbed/kolla-sites/{site.name}/etc/globals.d{built}"
    )


_CASES = (
    _Case(
        re.compile(
            r"sudo: a (?:terminal|password) is required|Missing sudo password|Incorrect sudo password|sudoers"
            r"|not allowed to execute|may not run sudo|sudo: .*not found|premature end of stream waiting for become"
        ),
        _sudo,
    ),
    _Case(
        re.compile(r"No first item, sequence was empty"),
        lambda failure, site: (
            f"a NIC of {failure.host} was not found by its pci or mac: correct hosts.{failure.host}.nics in"
            f" deploy/sites/{site.name}.yml (nfvbed doctor --site {site.name})"
        ),
    ),
    _Case(
        re.compile(r"meant only for testing purposes"),
        lambda _failure, site: (
            f"name your own images in .nfvbed/kolla-sites/{site.name}/etc/globals.d/images.yml (docker_registry,"
            " docker_namespace); or write `kolla_test_images: true` there"
        ),
    ),
    _Case(
        re.compile(r"(?i:no space left on device|disk quota exceeded)"),
        lambda failure, _site: f"make room on {failure.host}: df -h and df -i there show which file system is full",
        of_containers=True,
    ),
    _Case(
        re.compile(r"Error while fetching server API version|Cannot connect to (?:the Docker daemon|Podman)"),
        lambda failure, _site: (
            f"start the engine of containers on {failure.host}; systemctl status docker says there why it ended"
        ),
    ),
    _Case(
        re.compile(r"manifest (?:for|unknown)|[Tt]he requested image does not exist|[Nn]ame unknown"),
        _no_image,
    ),
    _Case(
        re.compile(
            r"Access denied for user|ACCESS_REFUSED|[Ll]ogin was refused"
            r"|The request you have made requires authentication"
        ),
        lambda failure, site: (
            f"a service on {failure.host} has another password than .nfvbed/kolla-sites/{site.name}/etc/passwords.yml:"
            " put the file back with which it was deployed"
        ),
        of_containers=True,
    ),
    _Case(
        re.compile(r"[Rr]egistry|[Pp]ulling image|manifest (?:for|unknown)|Failed to pull|download images"),
        lambda failure, site: (
            f"see whether {failure.host} reaches the registry of images, and which one:"
            f" docker_registry in globals.d of site {site.name}"
        ),
    ),
    _Case(
        re.compile(r"Task failed: Timed out after \d+ second"),
        lambda failure, _site: f"see on {failure.host} what that task's program waits for, and give it that",
    ),
    _Case(
        re.compile(r"Could not get lock|Unable to (?:acquire|lock)"),
        lambda failure, _site: f"something else installs packages on {failure.host}: wait for it",
    ),
    _Case(
        re.compile(r"No module named '?([\w.]+)"),
        lambda failure, _site: (
            f"the Python that Ansible takes on {failure.host} lacks what it names: Kolla's bootstrap-servers installs"
            " it (virtualenv and ansible_python_interpreter have to be the same one)"
        ),
    ),
    _Case(
        re.compile(r"interpreter|/usr/bin/python\S*: (?:not found|No such file)"),
        lambda failure, _site: f"install Python 3 on {failure.host}, or name it: ansible_python_interpreter",
    ),
)


def stage_failed(
    doing: str, story: PlaybookRun, site: KollaSiteSpec, log: str, containers: FailingContainers = NOT_ASKED
) -> StageFailed:
    """Return the error for a stage that stopped.

    Args:
        doing: stage and variant, in the words of the message.
        log: file with all of the output.
        containers: containers that were not healthy then.
    """
    failures = story.final_failures()
    if not failures:
        said = "\n".join(_last(story.errors)) or "Ansible ended without a word"
        return StageFailed(
            f"{doing} failed before any machine's task did",
            where=log,
            observed=said,
            fix="correct what it names; the same command continues here",
            place=str(story.position),
        )
    first = failures[0]
    others = [f"{one.place}: {one.said.splitlines()[0]}" for one in failures[1:][:_OTHERS_SHOWN]]
    return StageFailed(
        f"{doing} failed: {first.host} {'cannot be reached' if first.unreachable else 'failed a task'}",
        where=first.place,
        observed="\n".join((first.said, *others, *containers.shown())),
        fix=f"{next_step(first, site, containers)}; the same command continues here. All that Ansible said: {log}",
        place=first.place,
    )


def next_step(failure: TaskFailure, site: KollaSiteSpec, containers: FailingContainers = NOT_ASKED) -> str:
    """Return what to do about a failure: about what its task said, else about a container's last lines."""
    for case in _CASES:
        if case.said.search(failure.said):
            return case.fix(failure, site)
    if failure.unreachable:
        access = site.reached(failure.host) if failure.host in site.hosts else None
        return refused(access, failure.said).fix if access else f"see whether {failure.host} is up, and its address"
    ill = [(machine, one) for machine, one in containers.of_machines if not one.is_healthy]
    for machine, container in ill:
        for case in _CASES:
            if case.of_containers and any(case.said.search(line) for line in container.lines):
                return case.fix(replace(failure, host=machine), site)
    for machine, container in ill:
        return f"correct what container {container.name} on {machine} says"
    return f"correct on {failure.host} what the task says"


def _last(lines: Sequence[str]) -> list[str]:
    return [line for text in lines for line in text.splitlines() if line.strip()][:6]
