"""The process that something on this host belongs to, and when it started."""

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from nfvbed.errors import InternalError
from nfvbed.host.ledger.entries import Owner
from nfvbed.host.ledger.processes import start_time


def this_process(persistent: bool = False) -> Owner:
    """Return the running nfvbed as an owner."""
    started = start_time(os.getpid())
    if started is None:
        raise InternalError("/proc does not show this process", where="/proc", fix="mount /proc")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Owner(
        pid=os.getpid(),
        start_time=started,
        boot=boot_id(),
        command=" ".join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        since=now,
        made_ns=time.monotonic_ns(),
        persistent=persistent,
    )


def boot_id() -> str:
    """Return the id that the kernel drew at this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
