"""QEMU's command line for a guest: a pure function from a value to arguments.

Nothing is there but what is given: no default devices, no display, no user's configuration, no network of its own.
"""

from nfvbed.host.qemu.accelerator import MACHINE
from nfvbed.host.qemu.binaries import QemuBinaries
from nfvbed.vnfs.vm.guest import Guest, MemoryNode, Nic

_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_FIRST_SLOT = 0x10
"""PCI slot of the first NIC; the guest numbers its ports by slot."""

_OFFLOADS = (
    "csum",
    "guest_csum",
    "gso",
    "guest_tso4",
    "guest_tso6",
    "guest_ecn",
    "guest_ufo",
    "guest_uso4",
    "guest_uso6",
    "host_tso4",
    "host_tso6",
    "host_ecn",
    "host_ufo",
    "host_uso",
)
"""Features of virtio-net with which one side leaves checksums or segmentation to the other (virtio 1.2, 5.1.3)."""

_TAP_TX_QUEUE_SIZE = 256
"""The largest transmit ring that QEMU allows where it empties the ring itself."""
_MAX_QUEUE_SIZE = 1024


def argv(guest: Guest, binaries: QemuBinaries) -> list[str]:
    """Return the arguments, the program first."""
    words = [str(binaries.program), *binaries.firmware]
    words += ["-name", f"guest={guest.name},debug-threads=on"]
    words += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-sandbox", _SANDBOX]
    # The disk is virtio: an emulated guest would take half a second to find nothing at the six ports of SATA.
    machine = "q35,sata=off" if guest.numa else "q35,sata=off,memory-backend=ram0"
    words += ["-M", machine, *MACHINE[guest.accelerator], "-smp", str(guest.vcpus)]
    words += [*_memory(guest), *_disk(guest), *_channels(guest)]
    for index, nic in enumerate(guest.nics):
        words += nic_arguments(index, nic)
    return words


def _memory(guest: Guest) -> list[str]:
    words = ["-m", str(sum(node.mib for node in guest.memory))]
    if guest.locked:
        words += ["-overcommit", "mem-lock=on"]
    for index, node in enumerate(guest.memory):
        words += ["-object", _backend(index, node, guest.shares_memory)]
        if guest.numa:
            cpus = "".join(f",cpus={cpu}" for cpu in node.vcpus)
            words += ["-numa", f"node,nodeid={index},memdev=ram{index}{cpus}"]
    return words


def _backend(index: int, node: MemoryNode, shared: bool) -> str:
    where = "" if node.host_node is None else f",host-nodes={node.host_node},policy=bind"
    share = "on" if shared or node.hugepages else "off"
    size = f"id=ram{index},size={node.mib}M,share={share}{where}"
    if node.hugepages is not None:
        return f"memory-backend-file,{size},mem-path={escaped(str(node.hugepages))},prealloc=on"
    # A memfd can be shared without a file system; the switch gets it over the vhost-user socket.
    return f"memory-backend-memfd,{size}" if shared else f"memory-backend-ram,{size}"


def _disk(guest: Guest) -> list[str]:
    disk = guest.disk
    read_only = ",readonly=on" if disk.read_only else ""
    drive = f"file={escaped(str(disk.path))},format={disk.format},if=none,id=disk{read_only}"
    words = ["-drive", drive, "-device", "virtio-blk-pci,drive=disk,addr=0x04"]
    if guest.direct is not None:
        words += ["-kernel", str(guest.direct.kernel), "-initrd", str(guest.direct.ramdisk)]
        words += ["-append", guest.direct.command_line]
    return words


def _channels(guest: Guest) -> list[str]:
    """Return the monitor, the console (kept in a file as well) and the agent's channel."""
    words = ["-qmp", f"unix:{escaped(str(guest.monitor))},server=on,wait=off"]
    log = f",logfile={escaped(str(guest.console_log))},logappend=on"
    for name, path, more in (("console", guest.console, log), ("agent", guest.agent, "")):
        words += ["-chardev", f"socket,id={name},path={escaped(str(path))},server=on,wait=off{more}"]
        words += ["-serial", f"chardev:{name}"]
    return words


def nic_arguments(index: int, nic: Nic) -> list[str]:
    """Return the arguments of one NIC."""
    if nic.backend == "vf":
        return ["-device", f"vfio-pci,host={nic.address},id=nic{index},addr={_FIRST_SLOT + index:#x}"]
    return [*_netdev(index, nic), "-device", _device(index, nic)]


def _netdev(index: int, nic: Nic) -> list[str]:
    queues = f",queues={nic.queues}" if nic.queues > 1 else ""
    if nic.backend == "vhost-user":
        channel = f"socket,id=vhost{index},path={escaped(nic.address)},server=on,wait=off"
        return ["-chardev", channel, "-netdev", f"vhost-user,id=net{index},chardev=vhost{index}{queues}"]
    vhost = "on" if nic.vhost else "off"
    if nic.backend == "macvtap":
        files = f"fds={':'.join(map(str, nic.descriptors))}" if nic.queues > 1 else f"fd={nic.descriptors[0]}"
        return ["-netdev", f"tap,id=net{index},{files},vhost={vhost}"]
    return ["-netdev", f"tap,id=net{index},ifname={nic.address},script=no,downscript=no,vhost={vhost}{queues}"]


def _device(index: int, nic: Nic) -> str:
    common = f"netdev=net{index},id=nic{index},mac={nic.mac},addr={_FIRST_SLOT + index:#x}"
    if nic.model != "virtio":
        return f"{nic.model},{common}"
    size = min(nic.queue_size, _MAX_QUEUE_SIZE)
    transmit = size if nic.backend == "vhost-user" else min(size, _TAP_TX_QUEUE_SIZE)
    rings = f"rx_queue_size={size},tx_queue_size={transmit}"
    # One vector a ring, one for the configuration, one for the control queue.
    many = f",mq=on,vectors={2 * nic.queues + 2}" if nic.queues > 1 else ""
    offloads = "" if nic.offloads else "".join(f",{name}=off" for name in _OFFLOADS)
    merging = "" if nic.merge_buffers else ",mrg_rxbuf=off"
    return f"virtio-net-pci,{common},romfile=,{rings}{many}{offloads}{merging}"


def escaped(value: str) -> str:
    """Return a value as QEMU's option lists take it: a comma in it is doubled."""
    return value.replace(",", ",,")
