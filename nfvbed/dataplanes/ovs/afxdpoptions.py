"""Options of Open vSwitch's userspace datapath on AF_XDP sockets, with rules of any writer."""

from typing import Literal, Self

from pydantic import model_validator

from nfvbed.dataplanes.ovs.packagesets import VersionNeed
from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions, refuse_unless_vhost_user
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.options import AF_XDP, refuse_existing
from nfvbed.spec.vnf import VnfChoice, vnic_of

_TAP_VNICS = frozenset({"any", "tap", "e1000", "rtl8139"})


class AfxdpDatapathOptions(OvsUserspaceOptions):
    """Open vSwitch whose ports are AF_XDP sockets on devices of the kernel."""

    xdp_mode: Literal["best-effort", "native-with-zerocopy", "native", "generic"] = "best-effort"
    """Mode in which the kernel passes frames to the socket (`xdp-mode`); `best-effort`: the best that the device
    has."""
    need_wakeup: bool = True
    """Use of the kernel's flag that it wants to be woken (`use-need-wakeup`); without it the kernel is woken for every
    burst."""
    interrupt: bool = False
    """Ports of type `afxdp-nonpmd`: ovs-vswitchd's main thread sleeps until frames come. Else threads poll."""
    core_use: Literal["threaded-napi", "inline"] = "inline"
    """Core that does the receive work of its veth ports, XDP included: the sender's, or a NAPI thread on the switch's
    own, beside its polling thread."""
    vnf_ports: Literal["kernel", "vhost-user"] = "kernel"
    """Ports for VNFs. `kernel`: a process has a veth, a virtual machine a tap, and the switch an AF_XDP socket on each;
    `vhost-user`: sockets, for which DPDK is initialised."""

    def io_path(self, kind: PortKind) -> str:
        """Return the path by AF_XDP sockets for veth ports."""
        return AF_XDP if kind is PortKind.VETH else super().io_path(kind)

    @property
    def veth_offloads(self) -> bool:
        """No: an AF_XDP socket passes frames on with the checksum that was left to a later device."""
        return False

    @property
    def version_needs(self) -> tuple[VersionNeed, ...]:
        """The needs of all, and `use-need-wakeup=false`: from 3.7 on Open vSwitch always uses the flag (its NEWS)."""
        need = VersionNeed("need_wakeup: false", "use-need-wakeup=false", until=(3, 7), instead="need_wakeup: true")
        return super().version_needs + (() if self.need_wakeup else (need,))

    @property
    def switch_cores(self) -> int:
        """The cores of its PMD threads, or the main thread's."""
        return 1 if self.interrupt else self.pmd_cores

    @model_validator(mode="after")
    def nothing_polls_by_interrupt(self) -> Self:
        polling = [key for key in ("rxq_affinity", "auto_load_balance", "pmd_maxsleep_us") if getattr(self, key)]
        polling += ["pmd_cores"] if self.pmd_cores > 1 else []
        polling += ["vnf_ports: vhost-user"] if self.vnf_ports == "vhost-user" else []
        if self.interrupt and polling:
            raise ValueError(f"interrupt: true has no polling thread, and so no {', '.join(polling)}")
        return self

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return vhost-user where variant or VNF ask for it, else tap for a virtual machine and veth for others."""
        vnic = vnic_of(choice)
        if choice.kind is VnfKind.EXISTING:
            raise refuse_existing()
        if self.vnf_ports == "vhost-user" or vnic == "vhost-user":
            if self.interrupt:
                raise UnsupportedError(
                    "vhost-user ports are polled, and this variant has no thread that polls",
                    where=self.dataplane,
                    observed="interrupt: true; vnic: vhost-user",
                    fix="vnic: any; or interrupt: false",
                )
            refuse_unless_vhost_user(choice, self.dataplane)
            return PortKind.VHOST_USER
        if choice.kind is VnfKind.VM and vnic in _TAP_VNICS:
            return PortKind.TAP
        if choice.kind is not VnfKind.VM and vnic == "any":
            return PortKind.VETH
        raise UnsupportedError(
            f"a NIC of kind {vnic!r} cannot be attached to AF_XDP ports",
            where=self.dataplane,
            observed="a process gets the end of a veth pair, a virtual machine a tap; vhost-user where it is asked for",
            fix="vnic: any or vhost-user",
        )
