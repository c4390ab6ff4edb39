"""User data of a virtual machine: its task, its ports in the order of NICs, addresses of its peers, settings.

One line of plain words, as heat-translator writes HOT without quotes and Tacker passes descriptors on as texts:

    vnf.name=vepc vnf.flavour=two-guests vnf.machine=core vnf.functions=mme,sgw vnf.nic.0=s1-mme
    vnf.port.mme.s1-mme=s1-mme,10.77.1.11/24 vnf.peer.s1-mme.ue-enb=10.77.1.10 vnf.config.mme.plmn=00101
"""

from collections.abc import Iterable, Iterator, Sequence

from nfvbed.spec.machines import MachineSpec, MachinesVnfSpec
from nfvbed.vnfs.descriptors.seedword import NO_SEED, PREFIX


def text(vnf: MachinesVnfSpec, flavour: str, guest: tuple[str, Sequence[MachineSpec]], outer: Sequence[str]) -> str:
    """Return the user data of a virtual machine.

    Args:
        flavour: name of the deployment flavour.
        guest: the virtual machine's name, and the machines of the file that it is or contains.
        outer: links that are networks in this flavour; the others stay inside virtual machines.
    """
    name, held = guest
    words = [
        f"name={vnf.name}",
        f"flavour={flavour}",
        f"machine={name}",
        f"functions={','.join(one.name for one in held)}",
        *(f"nic.{number}={link}" for number, link in enumerate(nics(held, outer))),
    ]
    for machine in held:
        words += _ports(vnf, machine)
    words += _peers(vnf, held)
    words += _generators(vnf, held)
    words += [f"config.{machine.name}.{key}={value}" for machine in held for key, value in machine.config.items()]
    words += [NO_SEED] if vnf.seed else []
    return " ".join(PREFIX + word for word in words)


def nics(held: Sequence[MachineSpec], outer: Sequence[str]) -> list[str]:
    """Return the links of a virtual machine's NICs in order: those of the path first, then as in the file."""
    found = dict.fromkeys(port.link for machine in held for port in machine.ports if port.link in outer)
    return sorted(found, key=lambda link: outer.index(link)) if len(held) > 1 else list(found)


def _ports(vnf: MachinesVnfSpec, machine: MachineSpec) -> Iterator[str]:
    for port in machine.ports:
        cidr = vnf.link(port.link).cidr
        address = f",{port.address}/{cidr.prefixlen}" if port.address is not None and cidr is not None else ""
        yield f"port.{machine.name}.{port.name}={port.link}{address}"


def _generators(vnf: MachinesVnfSpec, held: Sequence[MachineSpec]) -> Iterator[str]:
    """Yield the addresses of a generator on the links of these machines."""
    own = {port.link for machine in held for port in machine.ports}
    for end in vnf.ports:
        machine, _, name = end.at.partition(".")
        link = next(port.link for port in vnf.machine(machine).ports if port.name == name)
        if end.generator is not None and link in own:
            yield f"generator.{link}={end.generator}"


def _peers(vnf: MachinesVnfSpec, held: Sequence[MachineSpec]) -> Iterable[str]:
    """Return the addresses of all other machines on the links of these."""
    own = {machine.name for machine in held}
    links = dict.fromkeys(port.link for machine in held for port in machine.ports)
    return [
        f"peer.{link}.{machine.name}={port.address}"
        for link in links
        for machine in vnf.machines
        for port in machine.ports
        if port.link == link and machine.name not in own and port.address is not None
    ]
