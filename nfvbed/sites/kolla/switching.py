"""Which NICs of a machine the switch of Open vSwitch or Linux bridge has, and on which physical networks."""

from nfvbed.cloud.kolla.uplinks import Uplink
from nfvbed.sites.kolla.model import Order
from nfvbed.spec.rack import NicRole

NO_UPLINK = ("macvtap", "vpp")
"""Data planes whose NICs on computes neither Open vSwitch nor Linux bridge has."""


def uplinks(order: Order, name: str) -> tuple[Uplink, ...]:
    """Return the NICs that a machine's switch has, in the file's order.

    A controller has all of its NICs there: DHCP and routers for networks of virtual functions or macvtap are attached
    to its switch. A compute's macvtap devices lie on the NIC itself, VPP's NIC is its own, and functions are of a NIC
    that no switch has.
    """
    host = order.site.hosts[name]
    roles: tuple[NicRole, ...] = ("external", "dpdk", "sriov")
    if host.is_compute:
        roles = () if order.plane_on(name) in NO_UPLINK else ("dpdk",) if order.polls(name) else ("external", "dpdk")
    return tuple(Uplink(nic, nic.network) for nic in host.nics_of(*roles) if nic.network is not None)
