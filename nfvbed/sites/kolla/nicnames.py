"""The name of a network device, as Ansible finds it on its machine by what does not change.

Kolla takes names, and a kernel or a firmware may name a NIC otherwise from one start to the next. What is rendered is
therefore an expression that looks the NIC's PCI or MAC address up in the facts of the machine when Ansible runs. One
that is not there is an error of Ansible's, and no other NIC is taken in its place.
"""

from typing import Literal

from nfvbed.spec.rack import RackHostSpec, RackNicSpec

Facts = Literal["ansible_facts", "hostvars"]
_IN_FACTS = {
    "ansible_facts": "ansible_facts.values() | select('mapping')",
    "hostvars": "ansible_interfaces | map('replace', '-', '_') | map('regex_replace', '^', 'ansible_')"
    " | map('extract', hostvars[inventory_hostname])",
}
"""All that may be a device, by where the release's Ansible has facts."""


def variable(nic: RackNicSpec) -> str:
    """Return the name of the variable that holds a NIC's name: `nfvbed_nic_dpdk_data`."""
    return "_".join(("nfvbed_nic", nic.role, *filter(None, (nic.network,))))


def device(nic: RackNicSpec) -> str:
    """Return the reference to that variable."""
    return f"{{{{ {variable(nic)} }}}}"


def variables(host: RackHostSpec, facts: Facts) -> dict[str, str]:
    """Return the variables of all NICs of a machine, each with its look-up."""
    return {variable(nic): _look_up(nic, facts) for nic in host.nics}


def _look_up(nic: RackNicSpec, facts: Facts) -> str:
    key, value = ("pciid", nic.pci) if nic.pci else ("macaddress", nic.mac)
    # A VLAN's device has the MAC address of its NIC, and no driver.
    known = "selectattr('module', 'defined')"
    wanted = f"selectattr('{key}', 'defined') | selectattr('{key}', 'equalto', '{value}') | list | first"
    return f"{{{{ ({_IN_FACTS[facts]} | {known} | {wanted}).device }}}}"
