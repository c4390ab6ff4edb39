"""Names of network devices, which Kolla takes, by what does not change: a kernel or firmware may name a NIC otherwise
from one start to the next.

Where Ansible has its facts in a variable, what is rendered is an expression that looks a NIC's PCI or MAC address up in
the facts of the machine when Ansible runs. A NIC that is not there is an error of Ansible's, and no other is taken in
its place. Ansible 2.3, which deploys Ocata, cannot look anything up from another machine's variables: there each NIC
gets a name of nfvbed's from systemd, by a file that has to be on the machine before (systemd.link(5)).
"""

from typing import Literal

from nfvbed.spec.rack import RackHostSpec, RackNicSpec

Facts = Literal["ansible_facts", "none"]
LINK_FOLDER = "nfvbed/links"


def variable(nic: RackNicSpec) -> str:
    """Return the name of the variable that holds a NIC's name: `nfvbed_nic_dpdk_data`."""
    return "_".join(("nfvbed_nic", nic.role, *filter(None, (nic.network,))))


def device(nic: RackNicSpec) -> str:
    """Return the reference to that variable."""
    return f"{{{{ {variable(nic)} }}}}"


def variables(host: RackHostSpec, facts: Facts, taken: tuple[RackNicSpec, ...] = ()) -> dict[str, str]:
    """Return the variables of all NICs of a machine: each a look-up, or a name that is given to it.

    Args:
        host: the machine.
        facts: where they are looked up; `none`: a link file gives each its name.
        taken: NICs whose devices the kernel no longer has once DPDK has them: what is given is the name of their port.
    """
    given = host.nics if facts == "none" else taken
    return {variable(nic): given_name(nic) if nic in given else look_up(nic, host) for nic in host.nics}


def given_name(nic: RackNicSpec) -> str:
    """Return the name that nfvbed gives a NIC: letters and digits, as Ansible's facts have it too."""
    return f"{nic.role[:2]}{nic.network or 'mgmt'}"


def link_files(name: str, host: RackHostSpec) -> dict[str, str]:
    """Return systemd's files that name a machine's NICs, by path.

    The first one that fits counts. Both ports of a ConnectX-3 are one PCI device, and fit its file: the one that is
    found by its MAC address has to have its name before.
    """
    found = {}
    for nic in host.nics:
        match, place = (f"Path=pci-{nic.pci}", 11) if nic.pci else (f"MACAddress={nic.mac}", 10)
        given = given_name(nic)
        found[f"{LINK_FOLDER}/{name}/{place}-nfvbed-{given}.link"] = f"[Match]\n{match}\n\n[Link]\nName={given}\n"
    return found


def look_up(nic: RackNicSpec, host: RackHostSpec, attribute: str = "device") -> str:
    """Return the expression that finds a NIC in the machine's facts.

    Args:
        nic: by PCI or MAC address.
        host: the machine.
        attribute: of its device: the name, or `pciid`.
    """
    key, value = ("pciid", nic.pci) if nic.pci else ("macaddress", nic.mac)
    # A VLAN's device has the MAC address of its NIC, and no driver.
    known = "ansible_facts.values() | select('mapping') | selectattr('module', 'defined')"
    # The other port of a NIC whose two ports are one PCI device is described by its MAC address.
    others = [other.mac for other in host.nics if other.mac and nic.pci and nic.driver == other.driver == "mlx4_core"]
    known += "".join(f" | rejectattr('macaddress', 'equalto', '{mac}')" for mac in others)
    wanted = f"selectattr('{key}', 'defined') | selectattr('{key}', 'equalto', '{value}') | list | first"
    return f"{{{{ ({known} | {wanted}).{attribute} }}}}"
