"""The names of network devices that Kolla needs, from what does not change.

A kernel or firmware may name a NIC otherwise from one start to the next.

Where Ansible has its facts in a variable, an expression is rendered that finds a NIC by its PCI or MAC address in the
machine's facts when Ansible runs. A missing NIC is an error of Ansible's, and no other NIC takes its place. Ansible
2.3, which deploys Ocata, cannot look anything up from another machine's variables. There systemd gives each NIC a name
of nfvbed's, by a file that must be on the machine before (systemd.link(5)).
"""

from typing import Literal

from nfvbed.cloud.kolla.uplinks import bridge_name
from nfvbed.spec.rack import RackHostSpec, RackNicSpec

Facts = Literal["ansible_facts", "none"]
LINK_FOLDER = "nfvbed/links"


def variable(nic: RackNicSpec) -> str:
    """Return the name of the variable that holds a NIC's name: `nfvbed_nic_dpdk_data`."""
    return "_".join(("nfvbed_nic", nic.role, *filter(None, (nic.network,))))


def device(nic: RackNicSpec) -> str:
    """Return the reference to a NIC's variable."""
    return f"{{{{ {variable(nic)} }}}}"


def variables(host: RackHostSpec, facts: Facts, taken: tuple[RackNicSpec, ...] = ()) -> dict[str, str]:
    """Return the variables of all NICs of a machine: each is a look-up, or a given name.

    Args:
        taken: NICs that have no kernel device once DPDK has them; their variables hold the names of their ports.
    """
    given = host.nics if facts == "none" else taken
    return {variable(nic): given_name(nic) if nic in given else look_up(nic, host) for nic in host.nics}


def given_name(nic: RackNicSpec) -> str:
    """Return nfvbed's name for a NIC: letters and digits, as Ansible's facts have it too."""
    return f"{nic.role[:2]}{nic.network or 'mgmt'}"


def link_files(name: str, host: RackHostSpec) -> dict[str, str]:
    """Return systemd's files that name a machine's NICs, by path.

    The first file that fits counts. Both ports of a ConnectX-3 are one PCI device and fit its file, so the file of the
    port that is found by its MAC address comes first.
    """
    found = {}
    for nic in host.nics:
        match, place = (f"Path=pci-{nic.pci}", 11) if nic.pci else (f"MACAddress={nic.mac}", 10)
        given = given_name(nic)
        found[f"{LINK_FOLDER}/{name}/{place}-nfvbed-{given}.link"] = f"[Match]\n{match}\n\n[Link]\nName={given}\n"
    return found


def with_address(host: RackHostSpec) -> str:
    """Return the expression that finds the device with a machine's address: its NIC, or what lies on it."""
    # Each is asked for by itself: Ansible looks for no attribute of what is not there.
    known = "ansible_facts.values() | select('mapping')" + "".join(
        f" | selectattr('{name}', 'defined')" for name in ("device", "ipv4", "ipv4.address")
    )
    return f"{{{{ ({known} | selectattr('ipv4.address', 'equalto', '{host.address}') | list | first).device }}}}"


def look_up(nic: RackNicSpec, host: RackHostSpec, attribute: str = "device") -> str:
    """Return the expression that finds a NIC in the machine's facts.

    Args:
        attribute: attribute of the device: its name, or `pciid`.
    """
    if nic.mac and host.has_devices_of_any_kind:
        return _look_up_any(nic, host, attribute)
    key, value = ("pciid", nic.pci) if nic.pci else ("macaddress", nic.mac)
    # A VLAN's device has the MAC address of its NIC, and no driver.
    known = "ansible_facts.values() | select('mapping') | selectattr('module', 'defined')"
    # The other port of a NIC whose two ports are one PCI device is described by its MAC address.
    others = [other.mac for other in host.nics if other.mac and nic.pci and nic.driver == other.driver == "mlx4_core"]
    known += "".join(f" | rejectattr('macaddress', 'equalto', '{mac}')" for mac in others)
    wanted = f"selectattr('{key}', 'defined') | selectattr('{key}', 'equalto', '{value}') | list | first"
    return f"{{{{ ({known} | {wanted}).{attribute} }}}}"


def _look_up_any(nic: RackNicSpec, host: RackHostSpec, attribute: str) -> str:
    """Return the expression for a NIC that may be a device of any kind: one with a driver comes first.

    A bridge has the MAC address of a port. Ansible's facts say of Linux bridges what they are; Open vSwitch's are left
    out by their names. A VLAN's device with its NIC's MAC address is a finding of the preflight.
    """
    bridges = sorted({bridge_name(one.network) for one in host.nics if one.network})
    found = (
        "ansible_facts.values() | select('mapping') | selectattr('device', 'defined')"
        f" | selectattr('macaddress', 'defined') | selectattr('macaddress', 'equalto', '{nic.mac}')"
        f" | rejectattr('type', 'in', ['bridge', 'bonding']) | rejectattr('device', 'in', {bridges})"
    )
    with_driver = f"{found} | selectattr('module', 'defined') | list"
    return f"{{{{ ((({with_driver}) + ({found} | list)) | first).{attribute} }}}}"
