"""What a dashboard that changes things has beside its store: the project, its jobs, and the audit log."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from nfvbed.dashboard.audit import Audit
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.spec.loader import Project

STATE: Final = Path(".nfvbed") / "dashboard"
"""Below the project's root."""


@dataclass(frozen=True)
class Operations:
    """What operators may start, cancel and remove in one project."""

    project: Project
    audit: Audit
    jobs: Jobs

    @classmethod
    def of(cls, project: Project, store: str) -> Self:
        """Return the operations on a project; its folder and log are made where there are none.

        Args:
            store: file or URL of the results, to which jobs write; they may use the cores that this process now may.

        Raises:
            ConfigurationError: the folder or the log cannot be written, or others may.
        """
        state = project.root / STATE
        audit = Audit(state / "audit.jsonl")
        location = store if "://" in store else str(Path(store).absolute())
        cores = frozenset(os.sched_getaffinity(0))
        return cls(project=project, audit=audit, jobs=Jobs(state / "jobs", project.root, location, audit, cores))
