"""Where the lab keeps its things on the host."""

from pathlib import Path

RUN_DIRECTORY = Path("/run/nfvbed")
"""Run directories, one a workspace, and the host lock; it is there only while something is deployed."""

LIBXDP_DIRECTORY = Path("/run/xdp")
"""Where libxdp locks while it attaches a program; it makes it, and never removes it."""

LOCK_NAME = "lock"
LEDGER_NAME = "ledger.jsonl"
DEPLOYMENT_NAME = "deployment.json"
"""In the run directory of a persistent workspace whose deployment is complete."""

TRIAL_PREFIX = "trial-"
"""Says that a process is in a trial: `trial-<pid>-<start time>-<number>`."""

UNBORN_PREFIX = ".new-"
"""A run directory that has no ledger yet: `.new-<pid>-<start time>`."""
