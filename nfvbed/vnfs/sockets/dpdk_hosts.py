"""Hosts on vhost-user and memif ports: DPDK's testpmd joins each port to a tap (the exception path).

One testpmd serves both hosts, on the generator's core: it opens the ports as the generator does, and forwards between
each and its tap. A tap costs it a system call for every frame, which the kernel has cut and summed before.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nfvbed.dataplanes.ports import vhost_user
from nfvbed.errors import DeployError, GeneratorError, UnsupportedError
from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.testpmd import command, telemetry
from nfvbed.host.testpmd.threads import forwarding_threads
from nfvbed.patience import patient
from nfvbed.records import Deployment, Role
from nfvbed.vnfs.process import sharing
from nfvbed.vnfs.sockets.hosts import (
    DEVICES,
    Cores,
    Host,
    HostResources,
    NamespaceEnds,
    devices_of,
    make_spaces,
    move,
    pair_of,
    place,
    remove_spaces,
    set_up,
)

WHAT = "taps behind testpmd on the generator's vhost-user or memif ports"
NAME = "ends"
MEMORY_MIB = 64
DESCRIPTORS = 1024
MBUFS = 16384
START_S = patient(20.0)
_PATH = re.compile(r"(?:path|socket)=([^,]+)")


@contextmanager
def dpdk_hosts(deployment: Deployment, around: HostResources) -> Iterator[NamespaceEnds]:
    """Make two hosts on a deployment's vhost-user or memif ports; the generator must not be open on them.

    Raises:
        UnsupportedError: the ports have several queues to receive on.
        GeneratorError: testpmd does not come up.
        PrerequisiteError: it is not there, or there is too little hugepage memory.
    """
    refuse_several_queues(deployment)
    spaces = make_spaces(around.workspace)
    process: ManagedProcess | None = None
    hugepages = _hugepages(around)
    _remove_dead_sockets(deployment)
    try:
        cores = place(around.arrangement, polls=True)
        process = _start(deployment, around, spaces[0], cores, hugepages)
        _wait_for_ports(process, around)
        hosts = _taps(spaces)
        set_up(deployment, hosts)
        threads = forwarding_threads(process.pid, (around.arrangement.generator_core,), Role.GENERATOR)
        yield NamespaceEnds(
            hosts=hosts,
            devices=devices_of(hosts),
            pair=pair_of(around, hosts, cores),
            cores=cores,
            threads=threads,
            what=WHAT,
        )
    finally:
        if process is not None:
            process.stop()
        for file in hugepages.glob("*map_*"):
            file.unlink(missing_ok=True)
        _remove_dead_sockets(deployment)
        remove_spaces(spaces)


def refuse_several_queues(deployment: Deployment) -> None:
    """Refuse ports on which the switch sends by several queues: testpmd would have to send on as many.

    Raises:
        UnsupportedError: they are memif ports of Open vSwitch, or have several queues.
    """
    if any(port.queues > 1 for port in deployment.ports):
        raise UnsupportedError(
            "no hosts of socket traffic on ports of several queues",
            where=f"variant {deployment.variant}",
            observed="the switch receives on several, and testpmd between port and tap serves one",
            fix="leave the test out for this variant, or n_rxq: 1",
        )
    if any("rx_queues=" in port.spec for port in deployment.ports):
        raise UnsupportedError(
            "no hosts of socket traffic on memif ports of Open vSwitch",
            where=f"variant {deployment.variant}",
            observed="it sends on a queue for each of its threads, and testpmd between port and tap serves one",
            fix="leave the test out for this variant, or take one on vhost-user ports",
        )


def _start(deployment: Deployment, around: HostResources, netns: str, cores: Cores, hugepages: Path) -> ManagedProcess:
    workspace, arrangement = around.workspace, around.arrangement
    options = command.TestpmdOptions(
        vdevs=_vdevs(deployment),
        main_core=arrangement.control_cores[0],
        forwarding_core=arrangement.generator_core,
        hugepages=hugepages,
        memory_mib=MEMORY_MIB,
        file_prefix=_prefix(around),
        descriptors=DESCRIPTORS,
        mbufs=MBUFS,
        single_file_segments=True,
    )
    report = workspace.directory / f"{NAME}.yield"
    report.unlink(missing_ok=True)  # of one before
    environment = {"RUNTIME_DIRECTORY": str(workspace.directory)}
    if cores.shared or arrangement.generator_core in arrangement.vnf_cores:
        environment |= sharing.environment(report, around.root, waits=False)
    on = sorted({arrangement.generator_core, options.main_core})
    return workspace.spawn(NAME, command.argv(options), cores=on, netns=netns, environment=environment)


def _vdevs(deployment: Deployment) -> tuple[str, ...]:
    """Return testpmd's ports in pairs, as it forwards: a port of the path, and a tap."""
    taps = (
        f"net_tap{index},iface={device},mac={mac}"
        for index, (device, mac) in enumerate(zip(DEVICES, vhost_user.MACS, strict=True))
    )
    return tuple(vdev for port, tap in zip(deployment.ports, taps, strict=True) for vdev in (port.spec, tap))


def _taps(spaces: tuple[str, str]) -> tuple[Host, Host]:
    """Move the second tap into its host's namespace; testpmd makes both in its own, and looks for them at its start.

    It forwards to and from a tap wherever that is.
    """
    move(DEVICES[1], spaces[0], spaces[1])
    first, second = (Host(*of) for of in zip(spaces, DEVICES, vhost_user.MACS, GENERATOR_ADDRESSES, strict=True))
    return first, second


def _wait_for_ports(process: ManagedProcess, around: HostResources) -> None:
    """Wait until testpmd forwards and all its ports have a link: both of the path, and the taps that it has started.

    Asking a port before it is configured crashes testpmd 22.11: that it forwards is seen from outside, by its thread.
    """
    path = telemetry.socket_path(around.workspace.directory, _prefix(around))
    cores = (around.arrangement.generator_core,)
    deadline = time.monotonic() + START_S
    forwards = 0
    while True:
        _check(process, deadline)
        time.sleep(0.02)
        threads = forwarding_threads(process.pid, cores, Role.GENERATOR)
        ran = path.is_socket() and any(_has_run(thread.pid, thread.tid) for thread in threads)
        forwards = forwards + 1 if ran else 0
        if forwards >= 3 and all(_is_up(path, port) for port in range(4)):
            return


def _has_run(pid: int, tid: int) -> bool:
    """Return whether a thread has worked longer than DPDK's own start takes."""
    try:
        return int(Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0]) > 5_000_000
    except (FileNotFoundError, ProcessLookupError):
        return False


def _is_up(path: Path, port: int) -> bool:
    try:
        return bool(telemetry.ask(path, f"/ethdev/link_status,{port}")["status"] == "UP")
    except DeployError:
        return False


def _check(process: ManagedProcess, deadline: float) -> None:
    if process.alive() and time.monotonic() < deadline:
        return
    raise GeneratorError(
        "testpmd does not join the hosts of socket traffic to the path",
        where=str(process.log),
        observed=f"within {START_S:g} s; the last lines of its log: {process.log_tail(2)}"
        if process.alive()
        else process.log_tail(8),
        fix="see whether the data plane has opened the other side of the ports",
    )


def _prefix(around: HostResources) -> str:
    return f"nfvbed-{around.workspace.id}-{NAME}"


def _hugepages(around: HostResources) -> Path:
    """Mount testpmd's memory; a restarted testpmd finds its old one."""
    link = around.workspace.directory / f"{NAME}.hugepages"
    if not link.is_symlink():
        link.symlink_to(around.workspace.hugepages(MEMORY_MIB))
    return link.resolve()


def _remove_dead_sockets(deployment: Deployment) -> None:
    """Remove an earlier program's socket, which would keep the next from listening."""
    for port in deployment.ports:
        found = _PATH.search(port.spec)
        if found is not None and "server=1" in port.spec:
            Path(found[1]).unlink(missing_ok=True)
