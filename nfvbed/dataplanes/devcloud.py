"""Which computes a devcloud has: one for each kind of data plane that Neutron can run instances on."""

from collections.abc import Callable, Sequence
from pathlib import Path

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.devcloud.cloud import HUGEPAGES_MIB, DevCloud
from nfvbed.dataplanes.linux_bridge.compute import LinuxBridgeCompute
from nfvbed.dataplanes.macvtap.compute import MacvtapCompute
from nfvbed.dataplanes.ovs.afxdp.compute import OvsAfxdpCompute
from nfvbed.dataplanes.ovs.dpdk.compute import OvsDpdkCompute
from nfvbed.dataplanes.sriov.compute import no_functions
from nfvbed.dataplanes.vpp.compute import VppCompute
from nfvbed.errors import UnsupportedError
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.variant import Variant

COMPUTES: dict[str, Callable[[DevCloud], Compute]] = {
    "linux-bridge": LinuxBridgeCompute,
    "macvtap": MacvtapCompute,
    "ovs-afxdp": OvsAfxdpCompute,
    "ovs-dpdk": OvsDpdkCompute,
    "vpp": VppCompute,
}
"""By the data plane's kind, as a variant's options have it."""
KINDS = (LinuxBridgeCompute.kind, MacvtapCompute.kind, OvsAfxdpCompute.kind, VppCompute.kind)
"""Of the compute nodes beside the controller."""


def open_cloud(project_root: Path, flavors: Sequence[Flavor] = (), hugepages_mib: int = HUGEPAGES_MIB) -> DevCloud:
    """Return the cloud of a project, which can have a compute of each of these data planes."""
    return DevCloud(project_root, KINDS, flavors, hugepages_mib)


def compute_of(variant: Variant, cloud: DevCloud) -> Compute:
    """Return the compute of a variant.

    Raises:
        UnsupportedError: the devcloud has none for its data plane.
    """
    kind = variant.options.dataplane
    if kind == "sriov":
        raise no_functions(variant)
    if kind not in COMPUTES:
        raise UnsupportedError(
            f"{variant.name} is no data plane of a devcloud",
            where=f"dataplane: {kind}",
            observed=f"computes there are for {', '.join(COMPUTES)}",
            fix="choose a variant of these, or site lab",
        )
    return COMPUTES[kind](cloud)
