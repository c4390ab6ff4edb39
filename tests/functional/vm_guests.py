"""Guests for the tests of virtual machines: choices, and places for them without a data plane. As root."""

import os
import socket
import subprocess
from pathlib import Path

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.qemu.binaries import locate
from nfvbed.records import PortKind, VnfKind, VnfPort
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.vnf import ImageSpec, ReadinessSpec, VnfChoice
from nfvbed.vnfs.vm.monitor import Monitor
from nfvbed.vnfs.vnf import VnfSeat
from tests.functional.disturbed import PATIENCE_S

PROJECT = open_project()
VLOOP = PROJECT.root / "images/vloop.qcow2"
READY_S = 120


def choice(forwarding="io", *, flavor="default", vnic="any", image=None, ready_s=READY_S):
    """A VNF in a virtual machine; `flavor` is a name or a flavor, `image` None for the project's own."""
    chosen = flavor if isinstance(flavor, Flavor) else PROJECT.load_flavor(flavor)
    spec = PROJECT.load_vnf("vloop").model_copy(update={"readiness": ReadinessSpec(timeout_s=ready_s)})
    return VnfChoice(
        label="vm", vnf=spec, kind=VnfKind.VM, forwarding=forwarding, flavor=chosen, vnic=vnic, image=image
    )


def offered(handle):
    """What QEMU offers the guest's first NIC: features of virtio-net."""
    with Monitor(Path(handle.control["monitor"])) as monitor:
        monitor.connect(PATIENCE_S, lambda: None)
        status = monitor.execute("x-query-virtio-status", {"path": "/machine/peripheral/nic0/virtio-backend"})
    return {name.partition(":")[0] for name in status["host-features"]["dev-features"]}


def own_image(path, marker):
    """A user's image: no agent, no file beside it."""
    return ImageSpec(file=str(path), agent=False, console_marker=marker)


def image_that_forwards(folder, mode):
    """Make a user's own image: it boots by its own loader, and forwards unasked; its agent is of no use."""
    tool = locate(PROJECT.root)
    own = folder / "own.raw"
    subprocess.run([tool.image_tool, "convert", "-O", "raw", VLOOP, own], env=os.environ | tool.environment, check=True)
    boot = f"{own}@@1M"
    settings = folder / "syslinux.cfg"
    subprocess.run(["mcopy", "-n", "-i", boot, "::syslinux.cfg", settings], check=True)
    settings.write_text(settings.read_text().replace("console=", f"vloop.forward={mode} console=", 1))
    subprocess.run(["mcopy", "-o", "-i", boot, settings, "::syslinux.cfg"], check=True)
    return own


def pass_through(netns, sender, receiver, count):
    """Send frames out of one device, and count those that another one receives; all in one namespace."""
    frame = b"\xff" * 6 + bytes.fromhex("024e46567f01") + b"\x88\xb5"
    into, out = inside(netns, lambda: (_raw(sender), _raw(receiver)))
    with into, out:
        out.settimeout(5)
        for number in range(count):
            into.send(frame + bytes([number]) * 46)
        seen = set()
        try:
            while len(seen) < count:
                data, address = out.recvfrom(65536)
                if address[2] != socket.PACKET_OUTGOING and data.startswith(frame):
                    seen.add(data[14])
        except TimeoutError:
            pass
    return len(seen)


def _raw(name):
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5))
    opened.bind((name, 0x88B5))
    return opened


def mac(number):
    """The address of a guest's port."""
    return f"02:4e:46:56:11:{number:02x}"


def kernel_ports(workspace, queues=1):
    """Two taps in a namespace."""
    netns = workspace.network_namespace("switch")

    def make():
        links.silence_ipv6()
        for number in range(2):
            links.add_tap(f"t{number}", queues)
            links.set_up([f"t{number}"])

    inside(netns, make)
    return tuple(
        VnfPort(
            name=f"v1{'ab'[number]}",
            vnf=0,
            port=number,
            kind=PortKind.TAP,
            address=f"t{number}",
            netns=netns,
            mac=mac(number),
            queues=queues,
        )
        for number in range(2)
    )


def seat(workspace, ports, chosen):
    """A place on core 1."""
    return VnfSeat(
        index=0,
        choice=chosen,
        does=chosen.forwarding,
        ports=ports,
        workspace=workspace,
        cores=(1,),
        control_cores=(0,),
        shares_core=False,
        root=PROJECT.root,
    )
