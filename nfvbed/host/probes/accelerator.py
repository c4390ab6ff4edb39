"""The probe of guests' accelerator: a guest is booted, as a device that opens proves nothing."""

from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.host.probes.host import RECORDED, Host
from nfvbed.host.qemu.accelerator import AcceleratorFound, find_accelerator, remembered
from nfvbed.host.qemu.binaries import locate
from nfvbed.records import Accelerator
from nfvbed.records.findings import Finding, State

TOPIC = "accelerator"
_BOOTED = "booted a guest to a mark on its console"
_FIX = "a machine whose KVM boots guests: bare metal, or a virtual machine with nested virtualisation"


def probe_accelerator(host: Host, root: Path, *, boot: bool) -> Finding:
    """Find the accelerator under which guests boot.

    Args:
        boot: boot a guest, if none was booted since this machine was; else report only what is remembered.
    """
    if not host.live:
        return Finding(topic=TOPIC, state=State.UNKNOWN, summary="no guest can be booted", probed=RECORDED)
    try:
        binaries = locate(root)
        found = find_accelerator(root, binaries) if boot else remembered(root, binaries)
    except PrerequisiteError as error:
        summary = f"{error.what}: {error.observed}" if error.observed else error.what
        return Finding(topic=TOPIC, state=State.UNKNOWN, summary=summary, probed="looked for QEMU", fix=error.fix)
    if found is None:
        summary = "no guest was booted yet"
        return Finding(topic=TOPIC, state=State.UNKNOWN, summary=summary, probed="not tried", fix="nfvbed doctor")
    return accelerator_finding(found)


def kvm_with_guests(device: Finding, accelerator: Finding) -> Finding:
    """Return the finding of KVM's device with what guests did on it, so that both lines agree.

    Args:
        device: the finding of `probe_kvm`; one that opens is `limited`.
        accelerator: the finding of `probe_accelerator`; `unknown` where no guest was booted.
    """
    if device.state is not State.LIMITED or accelerator.state is State.UNKNOWN:
        return device
    boots = accelerator.state is State.PRESENT
    opens = device.summary.partition(";")[0]
    summary = f"{opens}, and guests boot with it" if boots else f"{opens}, and no guest boots with it: see {TOPIC}"
    state = State.PRESENT if boots else State.LIMITED
    return device.model_copy(update={"state": state, "summary": summary, "probed": "tried to boot a guest"})


def accelerator_finding(found: AcceleratorFound) -> Finding:
    """Return what was found as a finding."""
    last = found.attempts[-1]
    if found.accelerator is Accelerator.KVM:
        return Finding(topic=TOPIC, state=State.PRESENT, summary=f"kvm, {last.observed}", probed=_BOOTED)
    if found.accelerator is Accelerator.TCG:
        summary = f"tcg, {last.observed}: guests are emulated, their rates mean nothing ({found.reason})"
        return Finding(topic=TOPIC, state=State.LIMITED, summary=summary, probed=_BOOTED, fix=_FIX)
    return Finding(topic=TOPIC, state=State.ABSENT, summary=found.reason, probed=_BOOTED, fix=_FIX)
