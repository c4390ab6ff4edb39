"""Why combinations are unsupported: written down by hand, the most particular reason first."""

OF_VARIANTS = {
    ("ovs-dpdk", "ocata"): "kolla-ansible has its role ovs-dpdk since 5.0 (Pike)",
    ("macvtap", "ocata"): "kolla-ansible 4.0 puts a NIC of every compute on a bridge",
    ("linux-bridge", "2026.1"): "Neutron dropped its Linux bridge agent in 2025.1",
    ("emulated-nic", "2026.1"): "Neutron dropped its Linux bridge agent in 2025.1",
    ("emulated-nic", "ocata"): "options that a cloud does not have: guest_nic: e1000",
    ("emulated-nic-rtl8139", "ocata"): "options that a cloud does not have: guest_nic: rtl8139",
    ("linux-bridge-balancer", "ocata"): "options that a cloud does not have: queue_balancer: True",
    ("linux-bridge-no-offloads", "ocata"): "options that a cloud does not have: offloads: False",
    ("linux-bridge-vhost-net", "ocata"): "options that a cloud does not have: guest_nic: virtio, vhost: on",
    ("linux-bridge-virtio", "ocata"): "options that a cloud does not have: guest_nic: virtio, vhost: off",
    ("macvtap-passthru", "2026.1"): "options that a cloud does not have: mode: passthru",
    ("macvtap-private", "2026.1"): "options that a cloud does not have: mode: private",
    ("macvtap-vepa", "2026.1"): "options that a cloud does not have: mode: vepa",
    ("ovn", "2026.1"): "Kolla has no OVN on DPDK",
    ("ovn", "ocata"): "kolla-ansible 4.0 has no role for OVN",
    ("ovn-afxdp", "2026.1"): "the ports that nfvbed's role nfvbed_afxdp makes are those of the openvswitch agent",
    ("ovs-afxdp", "ocata"): "Open vSwitch in Ocata's images is older than AF_XDP",
    ("vpp", "ocata"): "agent for VPP are for Python 3",
    ("vpp-af-packet", "2026.1"): "options that a cloud does not have: vnf_ports: kernel",
    ("vpp-memif", "2026.1"): "options that a cloud does not have: port_type: memif",
    ("vpp-pci", "2026.1"): "options that a cloud does not have: port_type: pci",
    ("ovs-dpdk-memif", "2026.1"): "options that a cloud does not have: port_type: memif",
    ("ovs-dpdk-pci", "2026.1"): "options that a cloud does not have: port_type: pci",
}
OF_SITES = {
    ("macvtap", "2026.1", "rack-two-machines"): "compute1 is controller and compute",
    ("macvtap", "2026.1", "rack-connectx"): "compute1 is controller and compute",
    ("ovs-dpdk", "2026.1", "rack-connectx"): "compute1 has a NIC for external networks apart from the data plane's",
    ("vpp", "2026.1", "rack-two-machines"): "compute1 is controller and compute",
    ("vpp", "2026.1", "rack-connectx"): "compute1 is controller and compute",
    ("sriov", "2026.1", "rack-two-machines"): "compute1 has no NIC for variant sriov",
    ("sriov", "ocata", "rack-two-machines"): "compute1 has no NIC for variant sriov",
}
NO_MECHANISM = "no mechanism of Neutron's"


def reason_of(variant: str, release: str, site: str) -> str:
    """Return the reason that is expected."""
    if found := OF_SITES.get((variant, release, site)):
        return found
    parts = variant.split("-")
    families = ["-".join(parts[:count]) for count in range(len(parts), 0, -1)]
    for family in families:
        if found := OF_VARIANTS.get((family, release)):
            return found
    return NO_MECHANISM
