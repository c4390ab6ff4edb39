"""Faults of kolla-ansible that what it renders showed, with what nfvbed renders against each.

`docs/reference/kolla.md` has the same list, by the same names.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from nfvbed.sites.kolla.render import ini
from tests.kolla.genconfig import Files, Services, read_ini

SWITCH = "database of Open vSwitch"
"""In place of a service's file: what Kolla writes there."""


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
    """Service's file that shows it, or `SWITCH`; empty: it is in what Kolla gives its program for DPDK."""
    option: str
    wrong: str
    """Value that Kolla has without the override; empty: the option is not there, or empty."""
    right: str

    def seen(self, services: Services) -> str:
        """Return the value that Kolla made."""
        if not self.rendered:
            return services.given_to_dpdkctl(self.host).get(self.option, "")
        if self.rendered == SWITCH:
            return services.written_to_switch(self.host).get(self.option, "")
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
        right="node:0,size:1048576,count:4;node:1,size:1048576,count:4",
    ),
    Fault(
        name="tacker-vim-keys",
        override="vim_keys/openstack",
        file="config/tacker.conf",
        host="controller",
        rendered="tacker-conductor/tacker.conf",
        option="vim_keys/openstack",
        wrong="",
        right="/var/lib/tacker/csar_files/vim_keys",
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
OF_OVN = (
    Fault(
        # Nova calls its host by the other name: Neutron finds no chassis for its instances' ports.
        name="chassis-by-domain-name",
        override="openvswitch_hostname",
        file=_COMPUTE,
        host="compute1",
        rendered=SWITCH,
        option="hostname",
        wrong="compute1.example.net",
        right="compute1",
    ),
    Fault(
        name="tunnel-address-of-chassis",
        override="tunnel_interface_address",
        file=_COMPUTE,
        host="compute1",
        rendered=SWITCH,
        option="ovn-encap-ip",
        wrong="10.10.0.11",
        right="10.20.0.11",
    ),
    Fault(
        name="networks-of-chassis",
        override="enable_neutron_provider_networks",
        file=_COMPUTE,
        host="compute1",
        rendered=SWITCH,
        option="ovn-bridge-mappings",
        wrong="",
        right="data:br-data",
    ),
)
_OCATAS_AGENT = "neutron-openvswitch-agent/ml2_conf.ini"
_OCATAS_ML2 = "config/neutron/ml2_conf.ini"


def _of_ocatas_server(name: str, option: str, wrong: str, right: str) -> Fault:
    return Fault(
        name=name,
        override=option,
        file=_OCATAS_ML2,
        host="controller",
        rendered="neutron-server/ml2_conf.ini",
        option=option,
        wrong=wrong,
        right=right,
    )


OF_OCATAS_SWITCHES = (
    Fault(
        name="one-network-two-names",
        override="ovs/bridge_mappings",
        file="config/neutron/controller/ml2_conf.ini",
        host="controller",
        rendered=_OCATAS_AGENT,
        option="ovs/bridge_mappings",
        wrong="physnet1:br-provider,physnet2:br-data,physnet3:br-vf",
        right="provider:br-provider,data:br-data,vf:br-vf",
    ),
    Fault(
        # What is physnet1 on a compute is physnet2 on the controller.
        name="one-network-two-names-on-computes",
        override="ovs/bridge_mappings",
        file="config/neutron/compute1/ml2_conf.ini",
        host="compute1",
        rendered=_OCATAS_AGENT,
        option="ovs/bridge_mappings",
        wrong="physnet1:br-data",
        right="data:br-data",
    ),
    Fault(
        name="ocata-tunnel-address",
        override="tunnel_interface_address",
        file=_COMPUTE,
        host="compute1",
        rendered=_OCATAS_AGENT,
        option="ovs/local_ip",
        wrong="10.10.0.11",
        right="10.20.0.11",
    ),
    _of_ocatas_server(
        "ocata-vlan-ranges", "ml2_type_vlan/network_vlan_ranges", "", "provider:100:149,data:200:299,vf:300:349"
    ),
    _of_ocatas_server(
        "ocata-flat-networks", "ml2_type_flat/flat_networks", "physnet1,physnet2,physnet3", "provider,data,vf"
    ),
    _of_ocatas_server("ocata-tenant-networks", "ml2/tenant_network_types", "vxlan", "vlan,vxlan"),
)
OF_OCATAS_BRIDGES = (
    Fault(
        name="all-nics-in-one-network",
        override="linux_bridge/physical_interface_mappings",
        file="config/neutron/controller/ml2_conf.ini",
        host="controller",
        rendered="neutron-linuxbridge-agent/ml2_conf.ini",
        option="linux_bridge/physical_interface_mappings",
        wrong="physnet1:exprovider,dpdata,srvf",
        right="provider:exprovider,data:dpdata,vf:srvf",
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
