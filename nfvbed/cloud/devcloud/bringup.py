"""The work of a start's stages in the controller: from an empty node to services that answer."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from nfvbed.cloud.devcloud import identity, rest
from nfvbed.cloud.devcloud.nodes.channel import Channel, Command
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.places import CONTROLLER
from nfvbed.cloud.devcloud.processes import NodeProcesses
from nfvbed.cloud.devcloud.rest import CloudApi
from nfvbed.cloud.devcloud.seed import Seed
from nfvbed.cloud.devcloud.services import keystone, libvirt, mariadb, neutron, nova, openvswitch, rabbitmq
from nfvbed.cloud.devcloud.services.catalogue import INFRASTRUCTURE, OPENSTACK, SERVICES
from nfvbed.cloud.devcloud.services.service import Service
from nfvbed.cloud.devcloud.services.settings import CloudSettings
from nfvbed.cloud.devcloud.switch_start import start_switch
from nfvbed.cloud.devcloud.waiting import wait_until
from nfvbed.host.cores.topology import read_topology

MGMT_ADDRESS = "10.99.0.1/24"
"""Address of the controller on the physical network `mgmt`: instances are reached from there."""
_SERVER_ENDS_S = 30.0
_SERVER, _AGENT = "neutron-server", "neutron-openvswitch-agent"
_API_PATHS = {"heat-cfn": "/", "keystone": "/v3", "tacker": "/"}


class BringUp:
    """The work of all stages on one node."""

    def __init__(self, node: Node, settings: CloudSettings, seed: Seed, seeded: bool) -> None:
        self._node = node
        self._settings = settings
        self._seed = seed
        self._seeded = seeded
        """Whether the node was started with the seed below it."""
        self.api = CloudApi(settings.secret("admin"))
        self._of_mechanisms = tuple(service for one in settings.mechanisms for service in one.services)
        self._processes = NodeProcesses(node, (*SERVICES, *self._of_mechanisms))

    @property
    def _channel(self) -> Channel:
        return self._node.channel

    def configure(self) -> str:
        """Write the files of all services."""
        return f"{self._processes.configure(self._settings)} files"

    def infrastructure(self) -> str:
        """Start databases, message queue, cache, switch and libvirt."""
        for service in (*INFRASTRUCTURE, *self._of_mechanisms):
            if service is not openvswitch.SERVICE:
                self._processes.start(service.processes)
        self._start_switch()
        self._processes.await_success("MariaDB answers", mariadb.ping(), 60.0)
        self._processes.await_success("libvirt answers", libvirt.ping(), 60.0)
        self._processes.await_success("RabbitMQ takes connections", rabbitmq.ping(), 90.0)
        return ""

    def _start_switch(self) -> None:
        pmd_mask = 1 << min(read_topology().allowed)
        start_switch(self._channel, self._processes, openvswitch.dpdk_settings(openvswitch.SOCKET_MEM_MIB, pmd_mask))
        bridge = openvswitch.BRIDGES["mgmt"]
        for words in (("addr", "replace", MGMT_ADDRESS, "dev", bridge), ("link", "set", bridge, "up")):
            self._channel.check(Command(("/usr/sbin/ip", *words)))

    def databases(self) -> str:
        """Make and migrate all databases; nothing to do on top of a seed."""
        if self._seeded:
            return "from the seed"
        users = {name: service.name for service in OPENSTACK for name in service.databases}
        passwords = {user: self._settings.secret(f"database {user}") for user in set(users.values())}
        self._channel.check(mariadb.execute(mariadb.statements(users, passwords)))
        first, *others = [service for service in OPENSTACK if service.migrations]
        self._migrate(first)
        self._channel.check(keystone.bootstrap(self._settings.secret("admin")))
        self._processes.start(keystone.SERVICE.processes)
        with ThreadPoolExecutor(max_workers=3) as executor:
            jobs = [executor.submit(self._migrate, service) for service in others]
            jobs.append(executor.submit(self._register))
            for job in jobs:
                job.result()
        return f"{len(users)} databases"

    def _migrate(self, service: Service) -> None:
        for command in service.migrations:
            self._channel.check(command)

    def _register(self) -> None:
        self._await_api("keystone")
        identity.register(self.api, self._settings.secret)

    def save_seed(self) -> str:
        """Keep the databases for later starts; they are shut down for a moment."""
        if self._seeded:
            return "used"
        for process in (*keystone.SERVICE.processes, *mariadb.SERVICE.processes):
            self._channel.stop(process.name, 30.0)
        self._seed.save(self._node.places)
        self._processes.start(mariadb.SERVICE.processes)
        self._processes.await_success("MariaDB answers", mariadb.ping(), 60.0)
        return "saved"

    def apis(self) -> str:
        """Start the APIs, and what asks none of them."""
        self._processes.start(keystone.SERVICE.processes)
        self._await_api("keystone")
        for service in OPENSTACK:
            self._processes.start([process for process in service.processes if not process.after_apis])
        for name in ("glance", "placement", "neutron", "nova", "heat", "tacker"):
            self._await_api(name)
        return ""

    def load_mechanisms(self) -> str:
        """Restart Neutron's server where it does not have all mechanism drivers; first start what they need."""
        (server,) = [process for process in neutron.SERVICE.processes if not process.after_apis]
        runs = any(one.name == server.name and one.status is None for one in self._channel.services())
        if runs and self._processes.is_configured(neutron.SERVICE, self._settings):
            for service in self._of_mechanisms:
                self._processes.start(service.processes)
            return "loaded"
        # Stopped before its files are written: where they are as they must be and it runs, it has read them.
        self._channel.stop(server.name, _SERVER_ENDS_S)
        self._processes.configure(self._settings)
        for service in self._of_mechanisms:
            self._processes.start(service.processes)
        self._processes.start((server,))
        self._await_api("neutron")
        return ", ".join(self._settings.mechanism_drivers)

    def end_neutron(self) -> str:
        """End Neutron's server and its Open vSwitch agent, where they run; return which did."""
        run = {one.name for one in self._channel.services() if one.status is None}
        ended = [process.name for process in neutron.SERVICE.processes if process.name in run & {_SERVER, _AGENT}]
        for name in ended:
            self._channel.stop(name, _SERVER_ENDS_S)
        return ", ".join(ended)

    def agents(self) -> str:
        """Start agents and computes, and wait until the cloud has them."""
        for service in OPENSTACK:
            self._processes.start([process for process in service.processes if process.after_apis])
        wait_until("Neutron's agents are alive", self._missing_agents, 120.0)
        wait_until("Nova's compute service is up", self._missing_compute, 120.0)
        self._channel.check(nova.discover_hosts())
        wait_until("Nova has a hypervisor", self._missing_hypervisor, 60.0)
        return ""

    def dashboard(self) -> str:
        """Wait for the services that nothing else waits for."""
        for name in ("heat-cfn", "horizon"):
            self._await_api(name)
        self.check_all_alive()
        return ""

    def write_clouds(self, text: str) -> None:
        """Write the node's own `clouds.yaml`."""
        self._channel.write("/etc/openstack/clouds.yaml", text, 0o600)

    def check_all_alive(self) -> None:
        """Check that every process of every service runs.

        Raises:
            DeployError: one has ended; with the last lines of its log.
        """
        self._processes.check_all_alive()

    def _missing_agents(self) -> str:
        for name in (_AGENT, "neutron-dhcp-agent"):
            self._processes.check_alive(name)
        agents = self.api.get("neutron", "/v2.0/agents")["agents"]
        alive = {one["binary"] for one in agents if one["alive"] and one["host"] == CONTROLLER and self._reports(one)}
        return ", ".join(sorted({_AGENT, "neutron-dhcp-agent"} - alive))

    def _reports(self, agent: dict[str, Any]) -> bool:
        """Return whether an agent has reported since it was started as it is now: Neutron binds ports by that."""
        if agent["binary"] != _AGENT or not self._settings.port_chains:
            return True
        return "vxlan" in agent["configurations"].get("tunnel_types", ())

    def _missing_compute(self) -> str:
        self._processes.check_alive("nova-compute")
        services = self.api.get("nova", "/v2.1/os-services")["services"]
        up = {one["binary"] for one in services if one["state"] == "up" and one["host"] == CONTROLLER}
        return ", ".join(sorted({"nova-compute", "nova-conductor", "nova-scheduler"} - up))

    def _missing_hypervisor(self) -> str:
        found = self.api.get("nova", "/v2.1/os-hypervisors")["hypervisors"]
        return "" if found else "none"

    def _await_api(self, name: str) -> None:
        processes = [p for service in OPENSTACK if service.name == name for p in service.processes if not p.after_apis]

        def missing() -> str:
            for process in processes:
                self._processes.check_alive(process.name)
            return "" if rest.answers(name, _API_PATHS.get(name, "/")) else "no answer"

        wait_until(f"{name} answers", missing, 120.0)
