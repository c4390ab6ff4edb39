"""What a dashboard that changes things has beside its store: the project, a folder for its state, and the audit log."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from nfvbed.dashboard.audit import Audit
from nfvbed.spec.loader import Project

STATE: Final = Path(".nfvbed") / "dashboard"
"""Below the project's root."""


@dataclass(frozen=True)
class Operations:
    """Of one project."""

    project: Project
    store: str
    """File or URL of the results, to which jobs write."""
    state: Path
    """Folder of jobs and of the audit log; its owner's alone."""
    audit: Audit

    @classmethod
    def of(cls, project: Project, store: str) -> Self:
        """Make the folder and the log where there are none.

        Raises:
            ConfigurationError: they cannot be written, or others may.
        """
        state = project.root / STATE
        return cls(project=project, store=store, state=state, audit=Audit(state / "audit.jsonl"))
