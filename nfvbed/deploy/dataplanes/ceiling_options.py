"""The options by which ceilings are arranged: those of the data plane that its kind of port was made for.

A ceiling belongs to a kind of port, not to a variant. Beside another data plane on the same kind of port it stands as
beside Open vSwitch (vhost-user) or the bridge (veth), with the rings and the use of cores that the variant asks for.
"""

from nfvbed.spec.dataplanes.lagopus import LagopusOptions, LagopusRawOptions
from nfvbed.spec.dataplanes.linux_bridge import LinuxBridgeOptions
from nfvbed.spec.dataplanes.ovs_dpdk import OvsDpdkOptions
from nfvbed.spec.dataplanes.vale import ValeOptions
from nfvbed.spec.dataplanes.xdp import XdpOptions
from nfvbed.spec.variant import Variant


def of_vhost_user(variant: Variant) -> OvsDpdkOptions:
    """Give the options of ceilings on vhost-user ports."""
    options = variant.options
    if isinstance(options, OvsDpdkOptions):
        return options
    ring_size = options.queue_size if isinstance(options, LagopusOptions) else 1024
    return OvsDpdkOptions(dataplane="ovs-dpdk", rx_queue_size=ring_size)


def of_veth(variant: Variant) -> LinuxBridgeOptions:
    """Give the options of ceilings on veth ports."""
    options = variant.options
    if isinstance(options, LinuxBridgeOptions):
        return options
    core_use = (
        options.core_use if isinstance(options, LagopusRawOptions | ValeOptions | XdpOptions) else "threaded-napi"
    )
    return LinuxBridgeOptions(dataplane="linux-bridge", core_use=core_use)


def as_bridge(variant: Variant) -> Variant:
    """Give a variant on veth ports as the bridge that its ceilings stand beside."""
    return variant.model_copy(update={"options": of_veth(variant)})
