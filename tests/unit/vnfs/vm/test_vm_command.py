"""QEMU's command line, argument by argument."""

from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.host.qemu.binaries import QemuBinaries
from nfvbed.records import Accelerator
from nfvbed.vnfs.vm import command
from nfvbed.vnfs.vm.guest import DirectBoot, Disk, Guest, MemoryNode, Nic

QEMU = QemuBinaries(Path("/opt/qemu"))
MAC = "02:4e:46:56:11:00"
VHOST_USER = Nic("virtio", "vhost-user", "/run/x/v1a.sock", MAC, queue_size=1024)
TAP = Nic("virtio", "tap", "v1a", MAC, queue_size=1024)


def guest(**changes):
    plain = Guest(
        name="vnf1",
        folder=Path("/run/x"),
        accelerator=Accelerator.TCG,
        vcpus=2,
        memory=(MemoryNode(768, (0, 1)),),
        nics=(),
        disk=Disk(Path("/images/vloop.qcow2"), "qcow2", read_only=True),
    )
    return replace(plain, **changes)


def argv(**changes):
    return command.argv(guest(**changes), QEMU)


def values(words, option):
    return [words[index + 1] for index, word in enumerate(words) if word == option]


def device(nic, index=0):
    return values(command.nic_arguments(index, nic), "-device")[0]


def netdev(nic):
    return values(command.nic_arguments(0, nic), "-netdev")[0]


def test_nothing_is_there_but_what_is_given():
    words = argv()
    assert {"-nodefaults", "-no-user-config", "-no-reboot"} <= set(words)
    assert values(words, "-display") == ["none"]
    assert values(words, "-netdev") == []
    assert values(words, "-device") == ["virtio-blk-pci,drive=disk,addr=0x04"]
    assert values(words, "-sandbox")[0].startswith("on,")
    assert values(words, "-qmp") == ["unix:/run/x/vnf1.qmp,server=on,wait=off"]
    assert values(words, "-smp") == ["2"]


@pytest.mark.parametrize(
    ("accelerator", "expected", "cpu"),
    [(Accelerator.TCG, "tcg,thread=multi", "max"), (Accelerator.KVM, "kvm", "host")],
)
def test_accelerator_is_the_one_that_was_probed(accelerator, expected, cpu):
    words = argv(accelerator=accelerator)
    assert (values(words, "-accel"), values(words, "-cpu")) == ([expected], [cpu])


def test_console_is_kept_in_a_file_and_the_agent_is_the_second_port():
    words = argv()
    assert values(words, "-serial") == ["chardev:console", "chardev:agent"]
    console, agent = values(words, "-chardev")
    assert "path=/run/x/vnf1.console" in console
    assert "logfile=/run/x/vnf1-console.log" in console
    assert agent == "socket,id=agent,path=/run/x/vnf1.agent,server=on,wait=off"


def test_disk_of_our_own_image_is_read_only_and_an_overlay_is_not():
    assert "readonly=on" in values(argv(), "-drive")[0]
    written = argv(disk=Disk(Path("/run/x/vnf1.qcow2"), "qcow2", read_only=False))
    assert values(written, "-drive") == ["file=/run/x/vnf1.qcow2,format=qcow2,if=none,id=disk"]


def test_kernel_beside_the_image_is_loaded_with_its_command_line():
    direct = DirectBoot(Path("/i/vloop.kernel"), Path("/i/vloop.initrd"), "console=ttyS0 panic=-1")
    words = argv(direct=direct)
    assert values(words, "-kernel") == ["/i/vloop.kernel"]
    assert values(words, "-initrd") == ["/i/vloop.initrd"]
    assert values(words, "-append") == ["console=ttyS0 panic=-1"]
    assert "-kernel" not in argv()


def test_memory_is_the_guests_own_unless_a_switch_maps_it():
    assert values(argv(), "-object") == ["memory-backend-ram,id=ram0,size=768M,share=off"]
    shared = argv(nics=(VHOST_USER,))
    assert values(shared, "-object") == ["memory-backend-memfd,id=ram0,size=768M,share=on"]
    assert values(shared, "-M") == ["q35,sata=off,memory-backend=ram0"]


def test_hugepages_are_shared_and_reserved_at_once():
    memory = (MemoryNode(768, (0, 1), hugepages=Path("/run/x/hugepages-1")),)
    (backend,) = values(argv(memory=memory), "-object")
    assert backend == "memory-backend-file,id=ram0,size=768M,share=on,mem-path=/run/x/hugepages-1,prealloc=on"


def test_numa_nodes_have_their_vcpus_and_lie_on_the_hosts_nodes():
    pages = Path("/run/x/hugepages-1")
    nodes = (MemoryNode(1024, (0, 1), pages, host_node=1), MemoryNode(512, (2, 3), pages, host_node=0))
    words = argv(memory=nodes, vcpus=4, numa=True)
    first, second = values(words, "-object")
    assert "size=1024M" in first
    assert "host-nodes=1,policy=bind" in first
    assert "host-nodes=0,policy=bind" in second
    assert values(words, "-numa") == [
        "node,nodeid=0,memdev=ram0,cpus=0,cpus=1",
        "node,nodeid=1,memdev=ram1,cpus=2,cpus=3",
    ]
    assert values(words, "-m") == ["1536"]
    assert values(words, "-M") == ["q35,sata=off"]


def test_real_time_guest_is_not_paged_out():
    assert values(argv(locked=True), "-overcommit") == ["mem-lock=on"]
    assert values(argv(), "-overcommit") == []


def test_vhost_user_port_is_the_server_of_its_socket():
    words = command.nic_arguments(0, VHOST_USER)
    assert values(words, "-chardev") == ["socket,id=vhost0,path=/run/x/v1a.sock,server=on,wait=off"]
    assert netdev(VHOST_USER) == "vhost-user,id=net0,chardev=vhost0"
    assert "rx_queue_size=1024,tx_queue_size=1024" in device(VHOST_USER)
    assert "vectors" not in device(VHOST_USER)


def test_tap_is_opened_by_name_without_scripts():
    assert netdev(TAP) == "tap,id=net0,ifname=v1a,script=no,downscript=no,vhost=off"
    assert netdev(replace(TAP, vhost=True)).endswith("vhost=on")
    assert "rx_queue_size=1024,tx_queue_size=256" in device(TAP), "QEMU's own limit for what it empties itself"


@pytest.mark.parametrize("nic", [VHOST_USER, TAP])
def test_queues_have_a_vector_for_each_ring(nic):
    many = replace(nic, queues=4)
    assert netdev(many).endswith(",queues=4")
    assert "mq=on,vectors=10" in device(many)


def test_macvtap_is_an_open_file_for_each_queue():
    one = Nic("virtio", "macvtap", "m0", MAC, descriptors=(30,))
    assert netdev(one) == "tap,id=net0,fd=30,vhost=off"
    two = replace(one, queues=2, descriptors=(30, 31))
    assert netdev(two) == "tap,id=net0,fds=30:31,vhost=off"


@pytest.mark.parametrize("model", ["e1000", "rtl8139"])
def test_emulated_nics_have_no_virtio_options(model):
    nic = replace(TAP, model=model, offloads=False)
    assert device(nic, 1) == f"{model},netdev=net1,id=nic1,mac={MAC},addr=0x11"


def test_virtual_function_is_passed_through():
    nic = Nic("vf", "vf", "0000:3b:02.1", MAC)
    assert command.nic_arguments(0, nic) == ["-device", "vfio-pci,host=0000:3b:02.1,id=nic0,addr=0x10"]


def test_receive_buffers_are_merged_unless_the_vnf_says_otherwise():
    assert "mrg_rxbuf" not in device(VHOST_USER)
    assert device(replace(VHOST_USER, merge_buffers=False)).endswith(",mrg_rxbuf=off")


def test_offloads_can_be_switched_off():
    off = device(replace(VHOST_USER, offloads=False))
    for name in ("csum", "guest_csum", "gso", "guest_tso4", "host_tso6", "host_uso"):
        assert f",{name}=off" in off
    assert "=off" not in device(VHOST_USER)


def test_ports_keep_their_order_on_the_bus():
    words = argv(nics=(TAP, replace(TAP, address="v1b")))
    assert [d.partition("addr=")[2].partition(",")[0] for d in values(words, "-device")[1:]] == ["0x10", "0x11"]


def test_commas_in_paths_are_doubled():
    words = argv(disk=Disk(Path("/images/a,b.qcow2"), "qcow2", read_only=True))
    assert "file=/images/a,,b.qcow2," in values(words, "-drive")[0]
