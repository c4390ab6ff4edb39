"""Starts a compute node beside the controller: namespaces, links, services; and waits until Nova and Neutron see it."""

import shutil
from collections.abc import Callable

from nfvbed.cloud.devcloud import access, enable, links
from nfvbed.cloud.devcloud.nodes.node import Node, NodeSpec
from nfvbed.cloud.devcloud.places import CONTROLLER, CloudPlaces
from nfvbed.cloud.devcloud.processes import NodeProcesses
from nfvbed.cloud.devcloud.rest import CloudApi
from nfvbed.cloud.devcloud.services import libvirt, nova, openvswitch
from nfvbed.cloud.devcloud.services.computes import JOINED, MGMT, ComputeKind, OutsideSwitch
from nfvbed.cloud.devcloud.services.openvswitch import SOCKET_MEM_MIB
from nfvbed.cloud.devcloud.services.settings import LOOPBACK, SWITCH_PAGES, CloudSettings, Secrets
from nfvbed.cloud.devcloud.stages import Stage
from nfvbed.cloud.devcloud.switch_start import start_switch
from nfvbed.cloud.devcloud.waiting import wait_until
from nfvbed.errors import DeployError
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.memory.hugepages import PAGE_KIB, HugepagePool

_PAGE_MIB = PAGE_KIB // 1024
_GUEST_PAGES = "guest-pages"
_SEEN = "seen"
"""Files in its exchange folder, which end with the cloud."""


class ComputeNode:
    """One compute node of a cloud whose controller runs."""

    def __init__(self, kind: ComputeKind, places: CloudPlaces, ledger: Ledger, controller: Node) -> None:
        self.kind = kind
        self._places = places.node(kind.host)
        self._ledger = ledger
        self._controller = controller
        self._secrets = Secrets.open(places.secrets)
        self._api = CloudApi(self._secrets("admin"))

    def find(self) -> Node | None:
        """Return its node, if it runs."""
        return Node.find(self._places, self._ledger.entries)

    def stages(self, guests_mib: int | None = None) -> list[Stage]:
        """Return the stages of a start; each can be repeated.

        Args:
            guests_mib: hugepage memory for its guests, in MiB; a running node keeps what it has. None: as at the last
                start.
        """
        host, outside = self.kind.host, self.kind.outside

        def stage(name: str, summary: str, work: Callable[[], str]) -> Stage:
            return Stage(f"{host}/{name}", summary, work, lasting=False)

        return [
            stage("node", "namespaces, memory", lambda: self._start_node(guests_mib)),
            stage("links", "links to the generator and to the controller, relay", self._lay),
            *([] if outside is None else [stage("switch", outside.title, lambda: self._start_outside(outside))]),
            stage("services", "libvirt, Nova's compute service, Neutron's agent", self._start_services),
            stage("seen", "Nova and Neutron have it", self._await_seen),
        ]

    def _start_node(self, guests_mib: int | None) -> str:
        if self.find() is not None:
            return "runs"
        had = self._guest_pages()
        pages = had if guests_mib is None else guests_mib // _PAGE_MIB
        own = SWITCH_PAGES if self.kind.switch.dpdk else 0
        # As the controller's: pages that are free now may be about to be used by what had them made.
        lacking = max(0, pages - had) + (0 if had else own)
        if lacking and HugepagePool().enlarge(lacking, self._ledger) < lacking:
            HugepagePool().ensure_free(pages + own, self._ledger)
        shutil.rmtree(self._places.layer, ignore_errors=True)
        (self._places.exchange / _SEEN).unlink(missing_ok=True)
        self._places.exchange.mkdir(parents=True, exist_ok=True)
        (self._places.exchange / _GUEST_PAGES).write_text(str(max(pages, had)))
        hugepages_mib = (pages + own) * _PAGE_MIB
        spec = NodeSpec(self._places, (self._places.cloud.root,), hugepages_mib, ((self.kind.host, LOOPBACK),))
        Node.start(spec, self._ledger)
        return f"{pages * _PAGE_MIB} MiB for guests"

    def _guest_pages(self) -> int:
        """Return how many pages the machine's pool has for its guests; a node that has ended keeps them."""
        path = self._places.exchange / _GUEST_PAGES
        return int(path.read_text()) if path.exists() else 0

    def _lay(self) -> str:
        node = self._node()
        if not access.relay_runs(self._ledger.entries, self.kind.host):
            access.start_relay_from(node, self._controller, self._ledger, self.kind.ports)
        if self.kind.joined:
            links.join(node, self._controller)
        else:
            links.lay(node, self._controller, self._ledger)
        return ""

    def _start_outside(self, switch: OutsideSwitch) -> str:
        node = self._node()
        if switch.find(node, self._ledger.entries) is not None:
            return "runs"
        switch.start_again(node, self._ledger)
        return ""

    def _start_services(self) -> str:
        node = self._node()
        processes = NodeProcesses(node, self.kind.services)
        # Nova sees the whole machine's pool, in which the controller's guests and labs have pages, too.
        reserved = max(0, HugepagePool().total - self._guest_pages())
        processes.configure(CloudSettings(self._secrets, host=self.kind.host, reserved_pages=reserved))
        if openvswitch.SERVICE in self.kind.services:
            pmd_mask = 1 << min(read_topology().allowed)
            settings = openvswitch.plain_settings(pmd_mask)
            if self.kind.switch.dpdk:
                settings = openvswitch.dpdk_settings(SOCKET_MEM_MIB, pmd_mask)
            start_switch(node.channel, processes, settings, self.kind.switch)
            for name in (MGMT, *(JOINED if self.kind.joined else ())):
                node.channel.check(openvswitch.add_port(openvswitch.BRIDGES[name], name))
        processes.start(libvirt.SERVICE.processes)
        processes.await_success("libvirt answers", libvirt.ping(), 60.0)
        processes.start(self.kind.processes)
        return ""

    def _await_seen(self) -> str:
        processes = NodeProcesses(self._node(), self.kind.services)
        host = self.kind.host

        def missing_agent() -> str:
            processes.check_alive(self.kind.agent)
            agents = self._api.get("neutron", f"/v2.0/agents?host={host}&binary={self.kind.agent}")["agents"]
            return "" if any(one["alive"] for one in agents) else f"{self.kind.agent} has not reported"

        def missing_service() -> str:
            processes.check_alive("nova-compute")
            services = self._api.get("nova", f"/v2.1/os-services?host={host}&binary=nova-compute")["services"]
            return "" if any(one["state"] == "up" for one in services) else "nova-compute has not reported"

        def missing_hypervisor() -> str:
            found = self._api.get("nova", "/v2.1/os-hypervisors")["hypervisors"]
            return "" if host in {one["hypervisor_hostname"] for one in found} else "it is not among them"

        wait_until(f"Nova has the compute service of {host}", missing_service, 120.0)
        seen = self._places.exchange / _SEEN
        if not seen.exists():
            self._controller.channel.check(nova.discover_hosts())
            # Instances come to it only while it is deployed.
            enable.rest(self._api, host, f"{CONTROLLER} is deployed")
            seen.touch()
        wait_until(f"Nova has hypervisor {host}", missing_hypervisor, 60.0)
        wait_until(f"Neutron's agent on {host} is alive", missing_agent, 120.0)
        processes.check_all_alive()
        return ""

    def _node(self) -> Node:
        node = self.find()
        if node is None:
            raise DeployError(
                f"node {self.kind.host} is gone", where=str(self._places.exchange), fix="nfvbed devcloud start"
            )
        return node
