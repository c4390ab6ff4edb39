"""Faults of kolla-ansible 22.2.0 that what it renders showed, with what nfvbed renders against each.

`docs/howto/kolla.md` has the same list, by the same names.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from nfvbed.sites.kolla.render import ini
from tests.kolla.genconfig import Files, Services, read_ini


@dataclass(frozen=True)
class Fault:
    """One fault on one machine of the example site."""

    name: str
    override: str
    """What keeps it away: a variable, or `section/key` of a file."""
    file: str
    """Rendered file that has it."""
    host: str
    """Machine that it is seen on."""
    rendered: str
    """Service's file that shows it; empty: it is in what Kolla gives its program for DPDK."""
    option: str
    wrong: str
    """Value that Kolla has without the override; empty: the option is not there, or empty."""
    right: str

    def seen(self, services: Services) -> str:
        """Return the value that Kolla made."""
        if not self.rendered:
            return services.given_to_dpdkctl(self.host).get(self.option, "")
        section, _, key = self.option.partition("/")
        return ";".join(services.options(self.host, self.rendered).get(section, {}).get(key, []))


_AGENT = "neutron-openvswitch-agent/openvswitch_agent.ini"
_COMPUTE = "inventory/host_vars/compute1.yml"
OF_OVS_DPDK = (
    Fault(
        name="cidr-mappings",
        override="ovs_cidr_mappings",
        file=_COMPUTE,
        host="compute1",
        rendered="",
        option="cidr_mappings",
        wrong=" br-data:10.20.0.11/False ",
        right="br-data:10.20.0.11/24",
    ),
    Fault(
        name="socket-memory",
        override="ovs_socket_mem",
        file=_COMPUTE,
        host="compute1",
        rendered="",
        option="ovs_socket_mem",
        wrong="1024",
        right="1024,1024",
    ),
    Fault(
        name="bridges-of-computes",
        override="enable_neutron_provider_networks",
        file=_COMPUTE,
        host="compute1",
        rendered=_AGENT,
        option="ovs/bridge_mappings",
        wrong="",
        right="data:br-data",
    ),
    Fault(
        name="tunnel-address",
        override="tunnel_interface_address",
        file=_COMPUTE,
        host="compute1",
        rendered=_AGENT,
        option="ovs/local_ip",
        wrong="10.10.0.11",
        right="10.20.0.11",
    ),
    Fault(
        name="firewall-of-vhost-user",
        override="securitygroup/firewall_driver",
        file="config/neutron/compute1/openvswitch_agent.ini",
        host="compute1",
        rendered=_AGENT,
        option="securitygroup/firewall_driver",
        wrong="neutron.agent.linux.iptables_firewall.OVSHybridIptablesFirewallDriver",
        right="openvswitch",
    ),
    Fault(
        name="vlan-ranges",
        override="ml2_type_vlan/network_vlan_ranges",
        file="config/neutron/ml2_conf.ini",
        host="controller",
        rendered="neutron-server/ml2_conf.ini",
        option="ml2_type_vlan/network_vlan_ranges",
        wrong="",
        right="provider:100:149,data:200:299,vf:300:349",
    ),
    Fault(
        name="switchs-hugepages",
        override="DEFAULT/reserved_huge_pages",
        file="config/nova/compute1/nova.conf",
        host="compute1",
        rendered="nova-compute/nova.conf",
        option="DEFAULT/reserved_huge_pages",
        wrong="",
        right="node:0,size:1048576,count:1;node:1,size:1048576,count:1",
    ),
    Fault(
        name="tacker-user-domain",
        override="keystone_authtoken/user_domain_name",
        file="config/tacker.conf",
        host="controller",
        rendered="tacker-server/tacker.conf",
        option="keystone_authtoken/user_domain_name",
        wrong="default",
        right="Default",
    ),
    Fault(
        name="tacker-project-domain",
        override="keystone_authtoken/project_domain_name",
        file="config/tacker.conf",
        host="controller",
        rendered="tacker-server/tacker.conf",
        option="keystone_authtoken/project_domain_name",
        wrong="default",
        right="Default",
    ),
)
OF_SRIOV = (
    Fault(
        name="functions-of-a-controller",
        override="neutron_sriov_physnet_mappings",
        file="inventory/host_vars/controller.yml",
        host="controller",
        rendered=_AGENT,
        option="FDB/shared_physical_device_mappings",
        wrong="sriovnet1:eno1",
        right="",
    ),
    Fault(
        name="functions-by-name",
        override="nova_pci_passthrough_whitelist",
        file=_COMPUTE,
        host="compute1",
        rendered="nova-compute/nova.conf",
        option="pci/passthrough_whitelist",
        wrong='[{"physical_network": "vf", "devname": "enp175s0f0"}]',
        right="",
    ),
)


def without_overrides(files: Files, faults: tuple[Fault, ...]) -> Files:
    """Return rendered files without what nfvbed has against faults."""
    changed = dict(files)
    for fault in faults:
        text = changed[fault.file]
        if fault.file.endswith(".yml"):
            variables = yaml.safe_load(text)
            del variables[fault.override]
            changed[fault.file] = yaml.safe_dump(variables)
        else:
            changed[fault.file] = _without_option(text, fault.override)
    return changed


def _without_option(text: str, option: str) -> str:
    section, _, key = option.partition("/")
    options = read_ini(text)
    del options[section][key]
    kept: Mapping[str, Mapping[str, tuple[str, ...]]] = {
        name: {one: tuple(values) for one, values in pairs.items()} for name, pairs in options.items()
    }
    return ini(kept)
