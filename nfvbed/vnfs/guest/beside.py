"""Guests beside a deployment: of the same image and flavor as its VNFs, without ports, started for one test."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from nfvbed.errors import DeployError, PrerequisiteError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.memory.meminfo import available_kib
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.spec.vnf import AS_THE_IMAGE, VnfChoice
from nfvbed.vnfs.guest.machines import Machine
from nfvbed.vnfs.numa import Host, place_guest
from nfvbed.vnfs.vm.driver import VmVnf
from nfvbed.vnfs.vnf import VnfHost, VnfSeat

_FIRST_PLACE = 100
"""Far behind those of any topology: the first is called vnf101."""
_LEFT_MIB = 512
"""What stays for the host: QEMU itself takes memory beside the guest's."""
_MEMINFO = Path("/proc/meminfo")


@contextlib.contextmanager
def beside(choice: VnfChoice, count: int, arrangement: Arrangement, root: Path) -> Iterator[tuple[Machine, ...]]:
    """Boot guests side by side, and take them down with all that they needed.

    Args:
        choice: the VNF; vCPUs run where its flavor says, the guests in turn on the VNFs' cores.

    Yields:
        The guests, idle; their handles name the threads of their vCPUs.

    Raises:
        UnsupportedError: the host has not the cores, or their image has no agent.
        PrerequisiteError: too little memory.
        OnboardError, VnfDiedError: one does not boot.
        DeployError: something of them could not be removed.
    """
    image = choice.image or choice.vnf.image
    if image is None or not image.agent:
        raise UnsupportedError("guests beside the deployment need an image with nfvbed's agent", where=choice.label)
    check_memory(count, choice.flavor.memory_mib)
    driver, workspace = VmVnf(), Workspace.create()
    host = VnfHost(workspace, arrangement, root)
    try:
        # All of them are started and then waited for: they boot side by side.
        started = [(place, driver.start(place)) for place in _places(choice, count, host)]
        handles = tuple(driver.ready(place, handle) for place, handle in started)
        yield tuple(Machine(handle) for handle in handles)
        for handle in handles:
            driver.stop(handle)
    finally:
        problems = workspace.close()
        if problems:
            raise DeployError(
                "guests beside the deployment are not completely gone",
                where=str(workspace.directory),
                observed="; ".join(problems),
                fix="nfvbed destroy --all",
            )


def check_memory(count: int, each_mib: int, meminfo: Path = _MEMINFO) -> None:
    """Refuse more guests than the memory holds.

    Args:
        meminfo: the kernel's `/proc/meminfo`.

    Raises:
        PrerequisiteError: with what there is.
    """
    available_mib = available_kib(meminfo) // 1024
    wanted = count * each_mib + _LEFT_MIB
    if wanted > available_mib:
        raise PrerequisiteError(
            f"too little memory for {count} guests of {each_mib} MiB",
            where=str(meminfo),
            observed=f"{available_mib} MiB available, {wanted} wanted ({_LEFT_MIB} of them for the host)",
            fix="fewer guests, or a flavor with less memory_mib",
        )


def _places(choice: VnfChoice, count: int, host: VnfHost) -> Iterator[VnfSeat]:
    arrangement = host.arrangement
    topology, taken = read_topology(), frozenset[int]()
    cores = arrangement.vnf_cores or (arrangement.generator_core,)
    for number in range(count):
        core = cores[number % len(cores)]
        guest = place_guest(choice.flavor, Host(topology, arrangement, taken=taken), (core,))
        if choice.flavor.cpu_policy == "dedicated":
            taken |= {own for allowed in guest.vcpu_cores for own in allowed}
        yield VnfSeat(
            index=_FIRST_PLACE + number,
            choice=choice,
            does=AS_THE_IMAGE,
            ports=(),
            workspace=host.workspace,
            cores=(core,),
            control_cores=arrangement.control_cores,
            shares_core=True,
            root=host.root,
            guest=guest,
        )
