"""The compute with OVN: Neutron's driver `ovn`, ovn-controller on a node of its own, guests on vhost-user."""

import time
from collections.abc import Sequence

from nfvbed.cloud.compute import AddressLead, Compute
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.rest import CloudApi
from nfvbed.cloud.devcloud.services.settings import Secrets
from nfvbed.cloud.devcloud.stages import SilentProgress
from nfvbed.cloud.verify.checks import ExpectedMachine
from nfvbed.dataplanes.computes import packages, refusals
from nfvbed.dataplanes.computes.node_commands import COMPUTE_SERVICE, NodeCommands
from nfvbed.dataplanes.computes.own_node import running_node
from nfvbed.dataplanes.computes.refusals import Others
from nfvbed.dataplanes.ovs import nodeoptions
from nfvbed.dataplanes.ovs.dpdk.compute import OTHERS, VERSIONS, OvsDpdkCompute
from nfvbed.dataplanes.ovs.nodeswitch import INTEGRATION
from nfvbed.dataplanes.ovs.ovn import chassis
from nfvbed.dataplanes.ovs.ovn.chassis import Chassis
from nfvbed.dataplanes.ovs.ovn.node import AGENT, KIND, MAPPINGS, SOUTHBOUND
from nfvbed.dataplanes.ovs.ovn.options import OvnOptions
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.patience import patient
from nfvbed.records.findings import Finding
from nfvbed.spec.layout import Layout, layout
from nfvbed.spec.variant import Variant, options_of

_OTHERS: Others = {
    **OTHERS,
    "path": ("switch", "the cloud's data networks are two logical switches, each with a physical network"),
    "acl": ("none", "the cloud's networks have no port security, so that VNFs may forward, and then OVN has no ACLs"),
}
_SEEN_S = patient(30.0)
_WHY_NOT = {
    "ovn-afxdp": (
        "without DPDK Nova asks for a bridge of the kernel's datapath, as Neutron's driver ovn names no other",
        "variant ovn; or ovs-afxdp, whose driver names it",
    ),
    "ovn-kernel": ("switches of a devcloud are on the userspace datapath, without a kernel module", "variant ovn"),
}


class OvnCompute(OvsDpdkCompute):
    """Open vSwitch of a node of its own, whose rules ovn-controller writes."""

    dataplane = "ovn"
    kind = KIND
    second = None
    second_host = ""
    host = KIND.host
    options = OvnOptions
    no_made_networks = (
        "their ports have port security, of which OVN drops all IP that no security group allows, and this cloud has"
        " none"
    )

    @property
    def _node(self) -> Node:
        return running_node(self._cloud, self.host)

    @property
    def _chassis(self) -> Chassis:
        return Chassis(self.host, NodeCommands(self._node), SOUTHBOUND)

    def probe(self, variant: Variant) -> Fitness:
        """Return that nothing is lacking: the switch runs wherever the cloud does."""
        self.check(variant, layout("pvp"))
        return Fitness()

    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse options that Nova and Neutron decide, and paths that are no chain."""
        nodeoptions.check(variant, options_of(variant, OvnOptions), _OTHERS)
        refusals.require_chain(plan, refusals.LONGEST, refusals.JOINED)

    def start(self) -> None:
        """Start the node; Neutron's server is started again with its driver, where it is the first time."""
        self._cloud.start_compute(self.host, SilentProgress(), self.guests_mib)
        self._chassis.publish()
        self._await_mappings()

    def detach(self) -> None:
        """Take both ports off their bridges, where the node runs."""
        if self._cloud.find_compute(self.host) is not None:
            super().detach()

    def rest(self, resting: bool) -> None:
        """Let polling threads sleep, or not, where the node runs."""
        if self._cloud.find_compute(self.host) is not None:
            super().rest(resting)

    def lead(self, leads: Sequence[AddressLead]) -> None:
        """Refuse: a logical switch sends what has an unknown address to all ports that take such."""
        Compute.lead(self, leads)

    def versions(self) -> dict[str, str]:
        """Return versions of the packages in the private root, OVN's too."""
        return packages.versions(self._cloud.places, {**VERSIONS, "ovn": "ovn-host"})

    def expected(self, variant: Variant, arrangement: Arrangement) -> ExpectedMachine:
        """Return ovn-controller, which Neutron lists as an agent, the userspace datapath, and its threads."""
        return ExpectedMachine(
            host=self.host,
            agents=(AGENT,),
            services=(COMPUTE_SERVICE,),
            datapath_type="netdev",
            polling=arrangement.switch_cores,
            takes_hugepages=True,
        )

    def findings(self) -> tuple[Finding, ...]:
        """Check the chassis, the bindings of its ports and its rules."""
        return chassis.check(self._chassis.read(INTEGRATION), self.host, MAPPINGS)

    def _await_mappings(self) -> None:
        """Wait until Neutron's server has read which physical networks the chassis leads to."""
        api = CloudApi(Secrets.open(self._cloud.places.secrets)("admin"))
        deadline = time.monotonic() + _SEEN_S
        while True:
            agents = api.get("neutron", f"/v2.0/agents?host={self.host}&binary={AGENT}")["agents"]
            found = [one["configurations"].get("bridge-mappings", "") for one in agents]
            if any(set(one.split(",")) == set(MAPPINGS.split(",")) for one in found):
                return
            if time.monotonic() > deadline:
                raise DeployError(
                    "Neutron does not know which physical networks the chassis leads to",
                    where=f"chassis {self.host}",
                    observed=f"bridge-mappings {', '.join(found) or 'of no agent'} after {_SEEN_S:g} s",
                    fix="nfvbed devcloud logs neutron-server",
                )
            time.sleep(0.5)


def no_compute(variant: Variant) -> UnsupportedError:
    """Return why variants of the room's other data planes are none of a devcloud."""
    name = variant.options.dataplane
    observed, fix = _WHY_NOT[name]
    return UnsupportedError(
        f"{variant.name} is no data plane of a devcloud", where=f"dataplane: {name}", observed=observed, fix=fix
    )
