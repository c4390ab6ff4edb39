"""VSPERF's guests: which are refused, what VSPERF is told of them, and what becomes of its command line for QEMU."""

import json
import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nfvbed.errors import NfvbedError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.qemu.accelerator import AcceleratorFound, BootAttempt
from nfvbed.host.qemu.binaries import QemuBinaries
from nfvbed.host.qemu.images import Image, Sidecar
from nfvbed.records import Accelerator, QualityWarning, Status
from nfvbed.spec.flavor import Flavor
from nfvbed.vsperf.driver import driver, guests
from nfvbed.vsperf.driver.guests import Guests, cores_of, guest_additions, rules_of, vnf_ports
from nfvbed.vsperf.driver.plugin.qemu_system import translated
from nfvbed.vsperf.driver.request import check_request, planned
from tests.refusals import refusal
from tests.unit.vsperf.driver.test_vsperf_driver import Bed
from tests.unit.vsperf.recorded import NEWEST, recorded

RECORDED = json.loads((Path(__file__).parents[1] / "commands" / f"{NEWEST}.json").read_text())
ASKED = shlex.split(RECORDED["pvp_cont"])
"""VSPERF's words, which begin with those of sudo and taskset."""
ARGUMENTS = ASKED[ASKED.index("-m") :]
PINNED = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,), vnf_cores=(2, 1))
TCG = AcceleratorFound(
    accelerator=Accelerator.TCG,
    attempts=(
        BootAttempt(accelerator=Accelerator.KVM, booted=False, duration_ns=1, observed="not a byte"),
        BootAttempt(accelerator=Accelerator.TCG, booted=True, duration_ns=1, observed="booted"),
    ),
    qemu="10.0.2",
)
KVM = AcceleratorFound(
    accelerator=Accelerator.KVM,
    attempts=(BootAttempt(accelerator=Accelerator.KVM, booted=True, duration_ns=1, observed="booted"),),
    qemu="10.0.2",
)


def image(folder: Path) -> Image:
    """Return an image of nfvbed, with kernel and ramdisk beside it."""
    for name in ("vloop.kernel", "vloop.initrd"):
        (folder / name).write_text("")
    sidecar = Sidecar(version="1", cmdline="console=ttyS0", files={})
    return Image(folder / "vloop.qcow2", "qcow2", "f" * 64, sidecar)


def two(folder: Path, found: AcceleratorFound = TCG) -> Guests:
    flavor = Flavor(name="vsperf", title="VSPERF's guest", vcpus=2, memory_mib=2048)
    return Guests(2, flavor, "io", QemuBinaries(folder / "qemu"), found, image(folder))


def test_vsperf_is_told_of_its_guests_in_its_own_names(tmp_path: Path):
    found = guest_additions(two(tmp_path), tmp_path, tmp_path / "huge", PINNED)
    assert {*found.forced, *found.defaults} <= recorded(NEWEST).settings
    assert found.forced["VNF"] in recorded(NEWEST).classes("VNF")
    assert found.forced["GUEST_LOOPBACK"] == ["buildin", "buildin"]
    assert "buildin" in recorded(NEWEST)["guest_loopbacks"]
    assert found.forced["GUEST_CORE_BINDING"] == [("1", "2"), ("1",)], "each on its core, and where management may run"
    assert found.forced["GUEST_IMAGE"] == [str(tmp_path / "vloop.qcow2")] * 2
    assert len(set(found.forced["GUEST_SHARE_DIR"])) == 2, "VSPERF empties them"
    assert all(Path(share).parent == tmp_path for share in found.forced["GUEST_SHARE_DIR"])
    (program,) = found.paths["qemu"]["bin"].values()
    assert os.access(program, os.X_OK)


def test_its_command_line_boots_here_though_it_asks_for_kvm(tmp_path: Path):
    assert "--enable-kvm" in ARGUMENTS
    words = list(translated(ARGUMENTS, rules_of(two(tmp_path), tmp_path)))
    assert not [word for word in words if "kvm" in word]
    assert words[words.index("-accel") + 1] == "tcg,thread=multi"
    assert words[words.index("-cpu") + 1] == "max"
    assert words[words.index("-append") + 1].endswith("vloop.forward=io")
    monitor = ARGUMENTS[ARGUMENTS.index("-monitor") + 1]
    assert words[words.index("-monitor") + 1] == monitor.replace("/tmp", str(tmp_path)), "nothing stays in /tmp"
    kept = [word for word in ARGUMENTS if word not in ("--enable-kvm", "host,migratable=off", monitor)]
    assert [word for word in words if word in kept] == kept, "all else is VSPERF's, in its order"


def test_where_kvm_boots_nothing_of_it_is_changed(tmp_path: Path):
    words = list(translated(ARGUMENTS, rules_of(two(tmp_path, KVM), tmp_path)))
    changed = {number for number, word in enumerate(ARGUMENTS) if words[number] != word}
    assert changed == {ARGUMENTS.index("-monitor") + 1}
    own = replace(two(tmp_path, KVM), image=None)
    assert "-kernel" not in rules_of(own, tmp_path)["more"], "a user's image boots by its own loader"


def test_the_program_in_qemus_place_becomes_qemu(tmp_path: Path):
    found = two(tmp_path)
    found.binaries.program.parent.mkdir(parents=True)
    found.binaries.program.write_text('#!/bin/sh\nprintf "%s\\n" "$LD_LIBRARY_PATH" "$@"\n')
    found.binaries.program.chmod(0o755)
    additions = guest_additions(found, tmp_path, tmp_path / "huge", PINNED)
    wrapper = additions.paths["qemu"]["bin"]["qemu-system"]
    said = subprocess.run([wrapper, *ARGUMENTS], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == found.binaries.environment["LD_LIBRARY_PATH"]
    assert said[1:] == list(translated(ARGUMENTS, rules_of(found, tmp_path)))


def test_guests_attach_where_vsperf_puts_their_ports(tmp_path: Path):
    sockets = [word.split("path=")[1] for word in ARGUMENTS if word.startswith("socket,")]
    (first, second), _ = vnf_ports(two(tmp_path), tmp_path)
    assert [port.address for port in (first, second)] == [path.replace("RUN", str(tmp_path)) for path in sockets]
    assert cores_of(PINNED, 0) == ("1", "2")


REFUSED: list[tuple[str, type[NfvbedError], str]] = [
    ("VNF=QemuVirtioNet", UnsupportedError, "vhost-user ports"),
    ("GUEST_LOOPBACK=['l2fwd']", UnsupportedError, "GUEST_IMAGE"),
    ("GUEST_TESTPMD_FWD_MODE=['rxonly']", UnsupportedError, "testpmd's mode"),
    ("GUEST_MEMORY=['1024', '2048']", UnsupportedError, "differ from each other"),
]


@pytest.mark.parametrize(("parameters", "error", "said"), REFUSED)
def test_guests_that_cannot_be_given_are_refused_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: str, error: type[NfvbedError], said: str
):
    request = Bed(tmp_path, monkeypatch).request("pvvp_cont", "NfvGen", parameters)
    refusal(lambda: check_request(request), error, said)


def test_a_host_on_which_nothing_boots_says_what_a_boot_showed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    failed = tuple(attempt.model_copy(update={"booted": False}) for attempt in TCG.attempts)
    none = TCG.model_copy(update={"accelerator": Accelerator.NONE, "attempts": failed})
    monkeypatch.setattr(guests, "locate", lambda root: QemuBinaries(tmp_path))
    monkeypatch.setattr(guests.support, "usable", lambda binaries: binaries)
    monkeypatch.setattr(guests, "find_accelerator", lambda root, binaries: none)
    request = Bed(tmp_path, monkeypatch).request("pvp_cont", "NfvGen", "")
    found: Any = (request.case.name, request.own, 1, request.vnf, tmp_path)
    refusal(lambda: guests.find_guests(*found), UnsupportedError, "KVM booted nothing: not a byte")


def test_results_through_emulated_guests_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(driver, "find_guests", lambda *_: two(tmp_path))
    bed = Bed(tmp_path, monkeypatch)
    monkeypatch.setattr(driver, "resolve", lambda *_, **__: PINNED)
    parameters = "TRAFFICGEN_PKT_SIZES=(64,); TRAFFICGEN_DURATION=1"
    assert planned(bed.request("pvvp_cont", "NfvGen", parameters))["guests"] == 2
    run = bed.run("pvvp_cont", "NfvGen", parameters)
    assert run.status is Status.OK
    data = bed.data(run)
    (cell,), (trial,) = data.cells, data.trials
    assert cell.topology == "pvvp"
    assert QualityWarning.EMULATED_ACCELERATOR in trial.warnings
    rig = data.rigs[cell.rig_hash]
    assert (rig["accelerator"], rig["vnf"]["count"], rig["vnf"]["forwarding"]) == ("tcg", 2, "io")
