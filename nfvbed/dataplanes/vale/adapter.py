"""VALE: a switch of netmap for every cable, in the kernel and past its stack."""

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.link_state import LinkState
from nfvbed.dataplanes.ports.link_switch import LinkSwitch
from nfvbed.dataplanes.ports.veth_probe import Attempt, require_sender, try_out
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.vale.control import ValeControl, locate, most_switches
from nfvbed.dataplanes.vale.options import ValeOptions
from nfvbed.errors import DeployError, NfvbedError, SwitchDiedError, UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment
from nfvbed.records.state import State
from nfvbed.spec.variant import Variant, options_of

RESET = "ports detached from their switches, which end with that, and attached again"
_NETMAP_VERSION = Path("/sys/module/netmap/version")


class ValeState(State):
    """What is recorded beside the links."""

    vale_prefix: str
    """Begins its switches' names."""


class Vale(LinkSwitch):
    """A learning switch for each cable; an attached interface leaves the kernel's stack."""

    kind = "vale"
    works_in = "the sender's softirq"

    def probe(self, variant: Variant) -> Fitness:
        """Attach an end of a veth pair to a switch, list it, and detach it."""
        options = options_of(variant, ValeOptions)
        locate()
        require_sender("interfaces can only be attached by root")
        return try_out(Attempt(lambda workspace: _try(options, workspace)))

    def connect(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> State:
        """Attach both ends of every cable to its switch; switches come and go with their ports."""
        prefix = options_of(request.variant, ValeOptions).prefix
        if len(plan.layout.cables) > most_switches():
            raise UnsupportedError(
                f"topology {plan.layout.name} needs {len(plan.layout.cables)} switches",
                where="netmap",
                observed=f"at most {most_switches()} at a time",
                fix=f"a shorter chain; or netmap loaded with max_bridges={len(plan.layout.cables)} (a file in"
                " /etc/modprobe.d), which takes loading it again: all VALE switches of this host end",
            )
        control = ValeControl(spaces.switch)
        for port in vale_ports(plan, prefix):
            control.attach(port)
        return ValeState(vale_prefix=prefix)

    def check(self, deployment: Deployment) -> None:
        """Check that every port is attached."""
        wanted = _ports_of(deployment)
        try:
            missing = wanted - set(ValeControl(LinkState.of(deployment).switch_netns).ports())
        except (NfvbedError, OSError) as failure:
            raise SwitchDiedError("netmap does not answer", where="vale-ctl", observed=str(failure)) from failure
        if missing:
            raise SwitchDiedError(
                "ports are not attached to their switches",
                where=", ".join(sorted(missing)),
                fix="see who detached them; deploy again",
            )

    def versions(self) -> dict[str, str]:
        """Return the kernel's version, and netmap's where its module has one."""
        found = super().versions()
        with contextlib.suppress(OSError):
            found["netmap"] = _NETMAP_VERSION.read_text().strip()
        return found

    def release(self, deployment: Deployment) -> None:
        """Detach the ports before their links are removed: netmap holds an attached interface."""
        with contextlib.suppress(NfvbedError, OSError):
            control = ValeControl(LinkState.of(deployment).switch_netns)
            for port in _ports_of(deployment) & set(control.ports()):
                control.detach(port)

    def reset(self, deployment: Deployment) -> ResetReport:
        """Detach all ports, and attach them again."""
        control = ValeControl(LinkState.of(deployment).switch_netns)
        ports = tuple(vale_ports(BridgePlan.of(deployment), ValeState.of(deployment).vale_prefix))
        steps = Steps()
        with steps.timed("reset.detach"):
            for port in ports:
                control.detach(port)
        with steps.timed("reset.attach"):
            for port in ports:
                control.attach(port)
        return ResetReport(kind=RESET, steps=steps.done)


def vale_ports(plan: BridgePlan, prefix: str) -> Iterator[str]:
    """Yield both ports of every cable's switch, as netmap names them (vale(4))."""
    for number, cable in enumerate(plan.layout.cables):
        for end in (cable.first, cable.second):
            yield f"vale{prefix}{number}:{plan.port(end)}"


def _ports_of(deployment: Deployment) -> set[str]:
    return set(vale_ports(BridgePlan.of(deployment), ValeState.of(deployment).vale_prefix))


def _try(options: ValeOptions, workspace: Workspace) -> None:
    netns = workspace.network_namespace("probe")
    inside(netns, partial(links.add_veth, "s0", "g0", (MACS["s0"], MACS["g0"])))
    veth.prepare(netns, ("g0", "s0"))
    control, port = ValeControl(netns), f"vale{options.prefix}p:s0"
    control.attach(port)
    try:
        if port not in control.ports():
            raise DeployError("netmap does not list a port that it took", where=port, observed=str(control.ports()))
    finally:
        control.detach(port)
