"""The file that VPP is started with: all paths inside the run directory, and only the plug-ins that are used."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

API_SOCKET, CLI_SOCKET, STATISTICS_SOCKET = "api.sock", "cli.sock", "stats.sock"
FILE_NAME = "startup.conf"
PLUGINS = ("vhost_plugin.so", "memif_plugin.so", "af_packet_plugin.so")
"""vhost-user is a plug-in since VPP 26.06 and was part of VPP before, which ignores the name of a plug-in it lacks."""
STATISTICS_INTERVAL_S = 0.05
"""Between two updates of the counters of graph nodes, which VPP's main thread makes; a reading waits for one."""
STATISTICS_MIB = 32
"""At least; routes have counters there, for each thread."""
NIC_PLUGIN = "dpdk_plugin.so"
"""Drives NICs; enabled where there are some."""
NIC_DRIVER = "vfio-pci"
_HEAP_FOR_STATISTICS = 4
"""The main heap is so many times as large."""


@dataclass(frozen=True)
class NicPort:
    """A port of a NIC, with DPDK's options for it."""

    name: str
    """The interface's: p0, p1."""
    address: str
    """PCI address."""
    queues: int
    """To receive on."""
    descriptors: int
    """Descriptors of each ring."""


@dataclass(frozen=True)
class StartupSettings:
    """The settings in VPP's configuration file."""

    directory: Path
    prefix: str
    """Begins the names of its shared memory, so that two of them do not meet."""
    main_core: int
    worker_cores: tuple[int, ...]
    main_heap_mib: int
    buffers: int
    nics: tuple[NicPort, ...] = ()
    buffer_pages: Literal["2M", "1G"] = "2M"
    """Size of the hugepages that packet buffers are in."""


def render(settings: StartupSettings) -> str:
    """Return the configuration file.

    It does not have `poll-sleep-usec`: workers that sleep between polls would be measured with their sleep.
    """
    inside = settings.directory
    plugins = (*PLUGINS, NIC_PLUGIN) if settings.nics else PLUGINS
    workers = ",".join(str(core) for core in settings.worker_cores)
    sections = {
        "unix": (
            "nodaemon",
            "nosyslog",
            "nobanner",
            f"runtime-dir {inside}",
            f"cli-listen {inside / CLI_SOCKET}",
        ),
        "api-segment": (f"prefix {settings.prefix}",),
        "socksvr": (f"socket-name {inside / API_SOCKET}",),
        "statseg": (
            f"socket-name {inside / STATISTICS_SOCKET}",
            f"size {max(STATISTICS_MIB, settings.main_heap_mib // _HEAP_FOR_STATISTICS)}M",
            "page-size 4K",
            "per-node-counters on",
            f"update-interval {STATISTICS_INTERVAL_S}",
        ),
        "memory": (f"main-heap-size {settings.main_heap_mib}M", "main-heap-page-size 4K"),
        "buffers": (f"buffers-per-numa {settings.buffers}", f"page-size {settings.buffer_pages}"),
        "cpu": (f"main-core {settings.main_core}", f"corelist-workers {workers}"),
        "plugins": ("plugin default { disable }", *(f"plugin {name} {{ enable }}" for name in plugins)),
    }
    if settings.nics:
        # Its devices are bound to vfio-pci already: with that said, VPP leaves their drivers alone.
        sections["dpdk"] = (*(_device(port) for port in settings.nics), f"uio-driver {NIC_DRIVER}")
    blocks = (f"{name} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n" for name, lines in sections.items())
    return "".join(blocks)


def _device(port: NicPort) -> str:
    rings = f"num-rx-desc {port.descriptors} num-tx-desc {port.descriptors}"
    return f"dev {port.address} {{ name {port.name} num-rx-queues {port.queues} {rings} }}"
