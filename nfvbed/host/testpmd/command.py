"""testpmd's command line for forwarding between ports on chosen cores, without a console."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError

PROGRAM = "dpdk-testpmd"
NEVER_S = 64_800
"""Period of its printed statistics, 18 hours: DPDK 24.11 refuses 65,535 and more, those before took the rest by 65,536.

With a period it sleeps and needs no console; without, the end of its standard input is the end of testpmd."""


@dataclass(frozen=True)
class TestpmdOptions:
    """How testpmd is started."""

    __test__ = False

    vdevs: tuple[str, ...]
    main_core: int
    forwarding_core: int
    hugepages: Path
    memory_mib: int
    file_prefix: str
    descriptors: int = 1024
    mbufs: int = 16384
    burst: int = 32
    mode: str = "io"
    more_cores: tuple[int, ...] = ()
    """Forwarding cores beyond the first."""
    queues: int = 1
    """Queues of each port; forwarding cores take them in turn."""
    single_file_segments: bool = False
    """Memory in few files: virtio-user hands every one to its peer, and vhost takes eight."""
    peers: tuple[str, ...] = ()
    """Destination addresses that mode `mac` writes, by port."""
    free_threshold: int | None = None
    """Transmit descriptors that are free when sent buffers are taken back; None: the driver's own."""
    packet_bytes: int | None = None
    """What `flowgen` and `txonly` send, without FCS."""
    pci: tuple[str, ...] = ()
    """PCI devices that are its ports, in place of `vdevs`, in the order of their addresses."""
    commands: Path | None = None
    """File of console commands for what the command line lacks (see `retry_commands`)."""


def program() -> str:
    """Find testpmd.

    Raises:
        PrerequisiteError: it is not there.
    """
    path = shutil.which(PROGRAM)
    if path is None:
        raise PrerequisiteError(f"{PROGRAM} is not there", where="PATH", observed="not found", fix="make setup")
    return path


def retry_commands(mode: str, retries: int = 64, delay_us: int = 1) -> str:
    """Return the console commands that make a mode send again what a full ring refused."""
    return f"set fwd {mode} retry\nset burst tx delay {delay_us} retry {retries}\n"


def argv(options: TestpmdOptions) -> list[str]:
    """Return the command line.

    The lcores are threads pinned to their cores, so the main one, thread 0, may share a core with the generator: it
    never polls. Memory and IOVA mode are those of the switch beside it. Its wait for links is off: they may come up
    after the start, and then it forwards.
    """
    cores = (options.forwarding_core, *options.more_cores)
    lcores = [f"0@{options.main_core}", *(f"{number}@{core}" for number, core in enumerate(cores, 1))]
    eal = [program(), "--lcores", ",".join(lcores), "--main-lcore", "0"]
    eal += [word for device in options.pci for word in ("--allow", device)] or ["--no-pci", "--iova-mode=va"]
    eal += [f"--file-prefix={options.file_prefix}", "--huge-dir", str(options.hugepages)]
    eal += ["--socket-mem", str(options.memory_mib)]
    eal += ["--single-file-segments"] if options.single_file_segments else []
    for vdev in options.vdevs:
        eal += ["--vdev", vdev]
    return [*eal, "--", *_application(options, len(cores))]


def _application(options: TestpmdOptions, cores: int) -> list[str]:
    words = [
        f"--forward-mode={options.mode}",
        "--auto-start",
        "--disable-link-check",
        "--no-mlockall",
        f"--nb-cores={cores}",
        f"--stats-period={NEVER_S}",
        f"--rxd={options.descriptors}",
        f"--txd={options.descriptors}",
        f"--burst={options.burst}",
        f"--total-num-mbufs={options.mbufs}",
    ]
    if options.queues > 1:
        words += [f"--rxq={options.queues}", f"--txq={options.queues}"]
    if options.free_threshold is not None:
        words.append(f"--txfreet={options.free_threshold}")
    if options.packet_bytes is not None:
        words.append(f"--txpkts={options.packet_bytes}")
    words += [f"--eth-peer={number},{address}" for number, address in enumerate(options.peers)]
    return words + ([f"--cmdline-file={options.commands}"] if options.commands is not None else [])
