"""Options of Open vSwitch on DPDK."""

from typing import Literal

from pydantic import Field

from nfvbed.dataplanes.ovs.dpdkoptions import DpdkDatapathOptions


class OvsDpdkOptions(DpdkDatapathOptions):
    """Open vSwitch with the DPDK datapath."""

    dataplane: Literal["ovs-dpdk"]
    colour = 1
    userspace_tso: bool = Field(default=False, exclude_if=lambda value: not value)
    """Segmentation offload in userspace (`userspace-tso-enable`): ports pass on what a sender's kernel left undone, in
    frames of up to 64 KiB. It is of the whole switch, which reads it once, at its start."""
