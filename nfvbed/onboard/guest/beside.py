"""Guests beside a deployment: of the same image and flavor as its VNFs, without ports, started for one test."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from nfvbed.deploy.lab.arrangement import Arrangement
from nfvbed.deploy.lab.topology import read_topology
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.errors import UnsupportedError
from nfvbed.onboard.guest.machines import Machine
from nfvbed.onboard.numa import Host, place_guest
from nfvbed.onboard.vm.driver import VmVnf
from nfvbed.onboard.vnf import VnfPlacement
from nfvbed.records import VnfHandle
from nfvbed.spec.vnf import AS_THE_IMAGE, VnfChoice

_FIRST_PLACE = 100
"""Far behind those of any topology: the first is called vnf101."""
MOST = 32


@contextlib.contextmanager
def beside(
    choice: VnfChoice, count: int, host: tuple[Workspace, Arrangement, Path]
) -> Iterator[tuple[tuple[Machine, ...], tuple[VnfHandle, ...]]]:
    """Boot guests side by side, and end them.

    Args:
        choice: what they are; each vCPU runs where its flavor says, the guests in turn on the VNFs' cores.
        count: how many.
        host: the workspace that they start in, the arrangement of cores, the root of the project.

    Yields:
        The guests, and their handles with their threads.

    Raises:
        UnsupportedError: the host has not the cores, or their image has no agent.
        PrerequisiteError: too little memory.
        OnboardError, VnfDiedError: one does not boot.
    """
    image = choice.image or choice.vnf.image
    if image is None or not image.agent:
        raise UnsupportedError("guests beside the deployment need an image with nfvbed's agent", where=choice.label)
    driver = VmVnf()
    started: list[tuple[VnfPlacement, VnfHandle]] = []
    try:
        for place in _places(choice, count, host):
            started.append((place, driver.start(place)))
        handles = tuple(driver.ready(place, handle) for place, handle in started)
        yield tuple(Machine(handle) for handle in handles), handles
    finally:
        for _, handle in started:
            driver.stop(handle)


def _places(choice: VnfChoice, count: int, host: tuple[Workspace, Arrangement, Path]) -> Iterator[VnfPlacement]:
    workspace, arrangement, root = host
    topology, taken = read_topology(), frozenset[int]()
    cores = arrangement.vnf_cores or (arrangement.generator_core,)
    for number in range(count):
        core = cores[number % len(cores)]
        guest = place_guest(choice.flavor, Host(topology, arrangement, taken=taken), (core,))
        if choice.flavor.cpu_policy == "dedicated":
            taken |= {own for allowed in guest.vcpu_cores for own in allowed}
        yield VnfPlacement(
            index=_FIRST_PLACE + number,
            choice=choice,
            does=AS_THE_IMAGE,
            ports=(),
            workspace=workspace,
            cores=(core,),
            control_cores=arrangement.control_cores,
            shares_core=True,
            root=root,
            guest=guest,
        )
