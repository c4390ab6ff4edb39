"""Neutron's agent for VPP: `python3 -m nfvbed.dataplanes.vpp.neutron_vpp.agent --config-file neutron.conf`.

It asks Neutron which ports are bound to its host, and configures VPP for them. It reports itself alive only while VPP
answers: Neutron binds no port to a host that does not report.
"""

import sys
import time
from collections.abc import Sequence
from typing import Any

import oslo_messaging
from neutron.agent import rpc
from neutron.common import config
from neutron.conf.agent import common as agent_config
from neutron_lib import context
from neutron_lib.agent import topics
from oslo_config import cfg
from oslo_log import log

from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.dataplanes.vpp.neutron_vpp import names
from nfvbed.dataplanes.vpp.neutron_vpp.names import AgentSettings
from nfvbed.dataplanes.vpp.neutron_vpp.plumbing import Plumbing, Port
from nfvbed.errors import NfvbedError

_INTERVAL_S = 1.5
"""Between two looks at Neutron's ports: a guest that starts waits for so long, and for VPP to join its socket."""
_LOG = log.getLogger(__name__)


class Agent:
    """The agent of one host."""

    def __init__(self) -> None:
        self._host = cfg.CONF.host
        self._id = f"vpp-{self._host}"
        self._plugin = rpc.PluginApi(topics.PLUGIN)
        self._reports = rpc.PluginReportStateAPI(topics.REPORTS)
        self._known: dict[str, Port] = {}
        """Ports with their segments, as Neutron knows them."""
        self._told: set[str] = set()
        """Ports that Neutron has as up, by what this agent said."""
        self._reported_at: float | None = None
        """When a report was last sent; None: not since this agent started."""

    def run(self) -> None:
        """Work for ever: connect to VPP, and connect again when it has ended."""
        while True:
            try:
                settings = AgentSettings.parse(names.SETTINGS.read_text())
                with VppApi(names.API, lambda: None) as api:
                    self._serve(api, settings)
            except (NfvbedError, OSError, ValueError) as failure:
                _LOG.warning("VPP is not served: %s", failure)
            time.sleep(_INTERVAL_S)

    def _serve(self, api: VppApi, settings: AgentSettings) -> None:
        """Configure VPP as Neutron wants it, as long as VPP answers.

        Raises:
            NfvbedError: VPP does not answer.
        """
        plumbing = Plumbing(api, settings)
        _LOG.info("connected to VPP %s", api.version())
        while True:
            try:
                ports = self._ports()
                gone = plumbing.sync(ports)
                self._tell({port.id for port in ports if (names.FOLDER / names.socket_name(port.id)).exists()})
                self._report(settings)
            except oslo_messaging.MessagingException as failure:
                _LOG.warning("Neutron does not answer: %s", failure)
                api.version()
            else:
                for port in gone:
                    (names.FOLDER / names.socket_name(port)).unlink(missing_ok=True)
            time.sleep(_INTERVAL_S)

    def _ports(self) -> Sequence[Port]:
        """Ask Neutron for the ports that this agent's driver has bound to this host."""
        bound = self._plugin.get_ports_by_vnic_type_and_host(_as_administrator(), vnic_type="normal", host=self._host)
        ours = [one["id"] for one in bound if one.get("binding:vif_type") == "vhostuser" and one["admin_state_up"]]
        unknown = [one for one in ours if one not in self._known]
        if unknown:
            for found in self._plugin.get_devices_details_list(_as_administrator(), unknown, self._id, self._host):
                if "port_id" in found:
                    self._known[found["port_id"]] = _port(found)
        self._known = {one: self._known[one] for one in ours if one in self._known}
        return tuple(self._known.values())

    def _tell(self, plugged: set[str]) -> None:
        """Report to Neutron which ports have come up; Neutron tells Nova, which then lets their guests run.

        A port is up when a guest's QEMU serves the socket, and no sooner: Nova begins to listen when it starts QEMU.
        """
        new = plugged - self._told
        if new:
            answer = self._plugin.update_device_list(_as_administrator(), new, (), self._id, self._host)
            new -= set(answer["failed_devices_up"])
        self._told = (self._told & plugged) | new

    def _report(self, settings: AgentSettings) -> None:
        now = time.monotonic()
        started = self._reported_at is None
        if self._reported_at is not None and now - self._reported_at < cfg.CONF.AGENT.report_interval:
            return
        state: dict[str, Any] = {
            "binary": names.BINARY,
            "host": self._host,
            "topic": "N/A",
            "agent_type": names.AGENT_TYPE,
            "configurations": {
                "physical_networks": sorted(settings.uplinks),
                "vhostuser_socket_dir": str(names.FOLDER),
                "ports": len(self._known),
            },
            **({"start_flag": True} if started else {}),
        }
        self._reports.report_state(_as_administrator(), state, use_call=True)
        self._reported_at = now


def _as_administrator() -> Any:
    return context.get_admin_context_without_session()


def _port(details: dict[str, Any]) -> Port:
    vlan = details["segmentation_id"] if details["network_type"] == "vlan" else None
    return Port(details["port_id"], details["network_id"], details["physical_network"], vlan)


def main() -> None:
    """Read Neutron's configuration, and run the agent."""
    config.register_common_config_options()
    agent_config.register_agent_state_opts_helper(cfg.CONF)
    config.init(sys.argv[1:])
    config.setup_logging()
    Agent().run()


if __name__ == "__main__":
    main()
