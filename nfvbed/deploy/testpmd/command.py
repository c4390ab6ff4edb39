"""testpmd's command line for forwarding between two ports on one core, with nobody at its console."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError

PROGRAM = "dpdk-testpmd"
NEVER_S = 1_000_000
"""Period of its printed statistics. With a period it sleeps and needs no console; without, the end of its standard
input is the end of testpmd."""


@dataclass(frozen=True)
class TestpmdOptions:
    """How testpmd is started."""

    __test__ = False

    vdevs: tuple[str, str]
    main_core: int
    forwarding_core: int
    hugepages: Path
    memory_mib: int
    file_prefix: str
    descriptors: int = 1024
    mbufs: int = 16384
    burst: int = 32
    mode: str = "io"


def program() -> str:
    """Find testpmd.

    Raises:
        PrerequisiteError: it is not there.
    """
    path = shutil.which(PROGRAM)
    if path is None:
        raise PrerequisiteError(f"{PROGRAM} is not there", where="PATH", observed="not found", fix="make setup")
    return path


def argv(options: TestpmdOptions) -> list[str]:
    """Give the command line.

    The lcores are threads 0 and 1 placed on their cores, so that the main one may share a core with the generator and
    never polls. Memory and IOVA mode are those of the switch whose place it takes. Links may come up after the start:
    its wait for them is switched off, and it forwards as soon as they are there.
    """
    eal = [
        program(),
        "--lcores",
        f"0@{options.main_core},1@{options.forwarding_core}",
        "--main-lcore",
        "0",
        "--no-pci",
        "--iova-mode=va",
        f"--file-prefix={options.file_prefix}",
        "--huge-dir",
        str(options.hugepages),
        "--socket-mem",
        str(options.memory_mib),
    ]
    for vdev in options.vdevs:
        eal += ["--vdev", vdev]
    application = [
        f"--forward-mode={options.mode}",
        "--auto-start",
        "--disable-link-check",
        "--no-mlockall",
        "--nb-cores=1",
        f"--stats-period={NEVER_S}",
        f"--rxd={options.descriptors}",
        f"--txd={options.descriptors}",
        f"--burst={options.burst}",
        f"--total-num-mbufs={options.mbufs}",
    ]
    return [*eal, "--", *application]
