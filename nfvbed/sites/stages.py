"""The part of a site whose machines become a cloud in stages, each of which is recorded."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nfvbed.records import Record
from nfvbed.records.findings import Finding, SiteReport
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Position:
    """The position within a stage."""

    play: str = ""
    task: str = ""
    hosts: tuple[str, ...] = ()
    """Machines that have answered to this task."""

    def __str__(self) -> str:
        parts = [part for part in (self.play, self.task) if part]
        return ": ".join(parts) + (f" ({', '.join(self.hosts)})" if self.hosts else "")


class Observer(ABC):
    """Shows the progress of a deployment. Called from the thread that deploys; texts have no secrets."""

    @abstractmethod
    def say(self, line: str) -> None:
        """Show a line that stays."""

    @abstractmethod
    def begin(self, number: int, total: int, name: str, summary: str) -> None:
        """Show that a stage begins."""

    @abstractmethod
    def at(self, position: Position) -> None:
        """Show that the stage is at this task."""

    @abstractmethod
    def end(self, outcome: str, seconds: float) -> None:
        """Show that the stage has ended."""


class LoggedProgress(Observer):
    """Writes the progress of a deployment to the log."""

    def say(self, line: str) -> None:
        """Log a line."""
        _log.info("%s", line)

    def begin(self, number: int, total: int, name: str, summary: str) -> None:
        """Log that a stage begins."""
        _log.info("[%d/%d] %s: %s", number, total, name, summary)

    def at(self, position: Position) -> None:
        """Do nothing: tasks are in the stage's own log."""

    def end(self, outcome: str, seconds: float) -> None:
        """Log that a stage has ended."""
        _log.info("%s after %.0f s", outcome, seconds)


@dataclass(frozen=True)
class CloudOrder:
    """A cloud that is to be deployed."""

    variant: str
    """Name of its data plane's; with it come those that the site's file pins beside it."""
    release: str | None = None
    """Release of OpenStack; None: the newest one that there is a profile of."""
    inventory: Path | None = None
    """A user's own, in place of the rendered one; None: it is rendered."""
    replaces: bool = False
    """Whether another one that is there is taken down before."""
    evicts: bool = False
    """Whether what others have on that goes with it."""
    tags: tuple[str, ...] = ()
    """Tags of the tool that deploys it: services that are deployed alone; empty: all of the cloud."""


@dataclass(frozen=True)
class DeployedCloud:
    """A cloud that is deployed."""

    variants: str
    """Their names, each with its computes where there are several."""
    existed: bool
    """Whether all of it was deployed already."""
    clouds: Path
    """The `clouds.yaml` that has it, under the site's name."""
    logs: Path
    record: Mapping[str, Any]
    """What is remembered of it."""
    tags: tuple[str, ...] = ()
    """Tags of the order: where there are some and not all was deployed already, it is no cloud yet."""


@dataclass(frozen=True)
class VerifiedCloud:
    """The result of comparing a cloud with its variants."""

    variants: str
    deployment: str
    """Id; empty: nfvbed has not deployed it."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class StageFiles:
    """The files for the tool that deploys the cloud."""

    variants: str
    files: Mapping[str, str]
    """Text by path."""
    roles: tuple[str, ...]
    """Roles of nfvbed's that the variants need beside."""


class LostVariable(Record):
    """A variable that the kolla-ansible of the other release does not know."""

    name: str
    file: str
    """Path of the user's file; `rendered`: nfvbed renders it."""
    was_in: str
    """Where the kolla-ansible before has it; empty: that one does not know it either."""


class UpgradePreview(Record):
    """The differences between the inputs of two releases."""

    site: str
    variants: str
    before: str
    """Name of the release."""
    after: str
    differences: dict[str, str]
    """Unified differences by path of the rendered file; those without any are left out."""
    lost: tuple[LostVariable, ...]
    checked: int
    """Number of variables that were looked for."""
    new_passwords: tuple[str, ...] | None
    """Names of passwords that the rack's file lacks; None: it has no passwords yet."""


@dataclass(frozen=True)
class UpgradeRequest:
    """An upgrade that is looked at before it is done."""

    variant: str | None
    """Name of its data plane's; None: of what is deployed."""
    after: str
    """Release of OpenStack."""
    before: str | None = None
    """The same; None: what is deployed, else the newest one that there is a profile of."""
    share_after: Path | None = None
    """Folder of the playbooks of the tool that deploys that release; None: of the one that is installed."""
    share_before: Path | None = None


class StagedCloud(ABC):
    """The cloud of a site's machines, whether it is deployed or not.

    A variant is deployed without a path; what stopped in a stage is gone on with by the same order.
    """

    @abstractmethod
    def foresee(self, order: CloudOrder) -> tuple[str, ...]:
        """Return lines that say what `deploy` would do, stage by stage; nothing is changed, and no machine is asked.

        Raises:
            As `deploy`, before its first stage.
        """

    @abstractmethod
    def deploy(self, order: CloudOrder, confirm: Callable[[], None], observer: Observer) -> DeployedCloud:
        """Deploy a cloud, or go on where an earlier command stopped.

        Args:
            confirm: is called before another cloud is taken down; raises where the user did not mean that.

        Raises:
            BusyError: another variant is on the machines, others have something there, or another nfvbed is at work.
            ConfigurationError, PrerequisiteError, UnsupportedError: it cannot be deployed as files and machines are.
            StageFailed, InterruptedRunError: it stopped.
        """

    @abstractmethod
    def examine(self, variants: Iterable[Variant], release: str | None, *, try_functions: bool) -> SiteReport:
        """Ask all machines, and list what keeps variants from being deployed.

        Args:
            release: as `CloudOrder.release`.
            try_functions: make virtual functions for a moment.
        """

    @abstractmethod
    def verify(
        self,
        variant: str | None,
        choose: Callable[[Variant], VnfChoice | None] | None,
        release: str | None = None,
        os_cloud: str | None = None,
    ) -> VerifiedCloud:
        """Compare a running cloud with its deployment; one that nfvbed has not deployed, with the user's word.

        Args:
            variant: name of one that must be there; None: whatever was deployed.
            choose: returns the VNF that is booted where none runs; None: no frame is sent.
            release: release of a cloud that nfvbed has not deployed.
            os_cloud: its name in `clouds.yaml`.

        Raises:
            UsageError: another variant is deployed, or none is named.
            UnsupportedError: the deployment is not complete.
        """

    @abstractmethod
    def render(self, variant: str, release: str | None, groups: Callable[[], str] | None = None) -> StageFiles:
        """Return the files that the tool takes for a variant; nothing is deployed.

        Args:
            release: as `CloudOrder.release`.
            groups: returns the text of the tool's own inventory, whose groups are then written too; None: they are not.
        """

    @abstractmethod
    def preview_upgrade(self, wanted: UpgradeRequest) -> UpgradePreview:
        """Compare what the tool is given for two releases; nothing is changed, and no machine is asked.

        Raises:
            UsageError: no variant is named, and none is deployed.
            UnsupportedError: a release cannot have the variant, or its tool is not installed.
            ConfigurationError: the site's file lacks something, or a file of the user's cannot be read.
        """

    @abstractmethod
    def is_there(self, *, evicts: bool) -> bool:
        """Return whether a cloud, or a part of one, is deployed.

        Raises:
            BusyError: others have something on it, and it is not to go with it.
        """

    @abstractmethod
    def take_down(self, observer: Observer, *, evicts: bool) -> tuple[str, ...]:
        """Take down what is deployed, wherever that stopped; return lines that say what was.

        Raises:
            BusyError: as `is_there`; or another nfvbed is at work.
            PrerequisiteError, StageFailed, InterruptedRunError: it stopped; the same command goes on there.
        """

    @abstractmethod
    def foresee_take_down(self, *, evicts: bool) -> tuple[str, ...]:
        """Return lines that say what `take_down` would do; nothing is changed.

        Raises:
            BusyError: as `is_there`.
        """
