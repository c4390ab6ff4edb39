"""VNFs in virtual machines on the real host: ports, queues, memory, readiness and ends. As root."""

import hashlib
import os
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError, VnfDiedError
from nfvbed.host.fitness import support_of
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.qemu.accelerator import boot, find_accelerator
from nfvbed.host.qemu.binaries import QemuBinaries, locate
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Accelerator, PortKind, Readiness, Role
from nfvbed.vnfs.vm.agent import Agent, SerialPort
from nfvbed.vnfs.vm.driver import VmVnf
from tests.functional.disturbed import PATIENCE_S
from tests.functional.lab_host import MARK, assert_back_to, settled_snapshot
from tests.functional.vm_guests import PROJECT, choice, image_that_forwards, kernel_ports, own_image, pass_through, seat

pytestmark = pytest.mark.usefixtures("vloop_image")

FRAMES = 20


@pytest.fixture(name="workspace")
def _workspace(monkeypatch):
    mark = f"vm-{os.getpid()}"
    monkeypatch.setenv(MARK, mark)
    lock = HostLock()
    lock.acquire()
    before = settled_snapshot(mark)
    made = Workspace.create()
    try:
        yield made
        assert made.close() == []
        assert_back_to(before, mark)
    finally:
        made.close()
        lock.release()


def started(workspace, ports, chosen):
    place, driver = seat(workspace, ports, chosen), VmVnf()
    return driver, driver.ready(place, driver.start(place))


def guest_links(handle):
    ports = Agent(SerialPort(Path(handle.control["agent"]))).ask("links")["ports"]
    by_mac = {port["mac"]: port for port in ports}
    return [by_mac[port.mac] for port in handle.ports]


def test_accelerator_boots_a_guest_and_is_not_guessed():
    found = find_accelerator(PROJECT.root, locate(PROJECT.root))
    assert found.accelerator in (Accelerator.KVM, Accelerator.TCG)
    assert found.attempts[-1].booted
    # A guest that has booted said so on its console after a while; KVM is not chosen where its device is not there.
    assert found.attempts[-1].accelerator is found.accelerator
    assert found.attempts[-1].duration_ns > 100_000_000, "no kernel boots in less"
    assert Path("/dev/kvm").exists() or found.accelerator is Accelerator.TCG
    if found.accelerator is Accelerator.TCG:
        assert [attempt.booted for attempt in found.attempts] == [False, True]
        assert "KVM" in found.reason


def test_kernel_that_does_not_boot_is_seen(tmp_path):
    real = locate(PROJECT.root)
    (tmp_path / "qemu").mkdir()
    for folder in ("usr", "lib"):
        # Where the machine has all libraries itself, the unpacked QEMU has no lib.
        if (real.root / folder).exists():
            (tmp_path / "qemu" / folder).symlink_to(real.root / folder)
    broken = QemuBinaries(tmp_path / "qemu")
    broken.kernel.parent.mkdir()
    shutil.copy(real.busybox, broken.busybox)
    broken.kernel.write_bytes(b"no kernel" * 1000)
    folder = tmp_path / "boot"
    folder.mkdir()
    attempt = boot(Accelerator.TCG, folder, PROJECT.root, broken)
    assert not attempt.booted
    assert "kernel" in attempt.observed


def assert_its_abort_is_reported(workspace, vnf, handle):
    """Have QEMU abort, as by a fault of its own: it is reported with its signal and the last lines of its log."""
    os.kill(handle.pids[0], signal.SIGABRT)
    workspace.process("vnf1").wait(PATIENCE_S)
    with pytest.raises(VnfDiedError) as caught:
        vnf.verify(handle)
    assert "has died (signal 6, SIGABRT)" in caught.value.what
    assert "a fault of QEMU itself" in caught.value.fix
    assert "vloop: ready" in caught.value.observed, "the last lines of its log"
    with pytest.raises(OnboardError):
        vnf.hops(handle)
    vnf.stop(handle)


@pytest.mark.slow
def test_multiqueue_flavor_on_shared_hugepages_and_a_qemu_that_aborts(workspace):
    ports = kernel_ports(workspace, queues=4)
    vnf, handle = started(workspace, ports, choice("bridge", flavor="multiqueue"))
    assert [link["max_channels"] for link in guest_links(handle)] == [4, 4]
    (pid,) = handle.pids
    maps = [line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "hugepages-" in line]
    assert maps, "the guest's memory is on the workspace's hugepages"
    assert all(line.split()[1].endswith("s") for line in maps), "shared"
    vcpus = [thread for thread in vnf.threads(handle) if thread.tid != pid]
    assert len(vcpus) == 4
    assert all(os.sched_getaffinity(thread.tid) == {1} for thread in vcpus)
    assert os.sched_getaffinity(pid) == {0, 1}
    assert {thread.role for thread in vnf.threads(handle)} == {Role.VNF}
    assert_its_abort_is_reported(workspace, vnf, handle)


@pytest.mark.slow
def test_users_own_image_forwards_as_it_was_made_to_and_is_not_written_to(workspace, tmp_path):
    own = image_that_forwards(tmp_path, "bridge")
    before = hashlib.sha256(own.read_bytes()).hexdigest()
    chosen = choice("image", image=own_image(own, "vloop: ready"))
    ports = kernel_ports(workspace)
    vnf, handle = started(workspace, ports, chosen)
    assert "agent" not in handle.control
    assert handle.facts["console"].startswith("vloop: ready")
    assert handle.versions["image"] == before
    vnf.verify(handle)
    counted = vnf.hops(handle)
    assert pass_through(ports[0].netns, "t0", "t1", FRAMES) == FRAMES
    first, second = vnf.hops(handle)
    assert first.rx_packets - counted[0].rx_packets >= FRAMES, "counted on the taps"
    assert second.tx_packets - counted[1].tx_packets >= FRAMES
    vnf.stop(handle)
    assert hashlib.sha256(own.read_bytes()).hexdigest() == before


def test_guest_that_never_boots_is_reported_in_time(workspace, tmp_path):
    empty = tmp_path / "empty.raw"
    empty.write_bytes(bytes(1024 * 1024))
    place = seat(workspace, kernel_ports(workspace), choice(image=own_image(empty, "up"), ready_s=1))
    driver = VmVnf()
    handle = driver.start(place)
    with pytest.raises(OnboardError, match="did not boot within") as caught:
        driver.ready(place, handle)
    assert caught.value.exit_code == 21
    driver.verify(handle)  # QEMU itself lives: it is the guest that did not


def test_image_with_a_wrong_checksum_starts_nothing(workspace):
    image = choice().vnf.image.model_copy(update={"sha256": "0" * 64})
    place = seat(workspace, kernel_ports(workspace), choice(image=image))
    with pytest.raises(OnboardError, match="not the one that was declared"):
        VmVnf().start(place)


def test_more_hugepages_than_the_host_has(workspace):
    flavor = choice(flavor="hugepages").flavor.model_copy(update={"memory_mib": 1_048_576})
    place = seat(workspace, kernel_ports(workspace), choice(flavor=flavor))
    with pytest.raises(PrerequisiteError, match="too few hugepages"):
        VmVnf().start(place)


def test_virtual_function_is_unsupported_where_the_machine_has_no_iommu():
    support = support_of("vf", lambda: VmVnf().probe(choice(vnic="vf")))
    # What the kernel shows of it, read here and not as the product reads it.
    groups = subprocess.run(["ls", "/sys/kernel/iommu_groups"], capture_output=True, text=True, check=False).stdout
    if groups.split() and Path("/dev/vfio/vfio").exists():
        assert support.readiness in (Readiness.READY, Readiness.DEGRADED), support.reason
        return
    assert support.readiness is Readiness.UNSUPPORTED
    assert ("vfio" if groups.split() else "no IOMMU") in support.reason
    assert "intel_iommu=on" in support.fix


def test_emulated_nic_on_a_vhost_user_port_is_refused(workspace):
    ports = kernel_ports(workspace)
    sockets = tuple(
        port.model_copy(update={"kind": PortKind.VHOST_USER, "address": str(workspace.directory / port.name)})
        for port in ports
    )
    place = replace(seat(workspace, ports, choice(vnic="e1000")), ports=sockets)
    with pytest.raises(UnsupportedError, match="does not fit"):
        VmVnf().start(place)
