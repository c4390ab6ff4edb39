"""Neutron's mechanism driver for VPP: instances use vhost-user sockets, which they serve and VPP joins."""

from typing import Any

from neutron.plugins.ml2.drivers import mech_agent
from neutron_lib.api.definitions import portbindings

from nfvbed.dataplanes.vpp.neutron_vpp import names


class VppMechanismDriver(mech_agent.SimpleAgentMechanismDriverBase):
    """Binds ports to hosts with a living VPP agent; the agent reports which physical networks its VPP leads to."""

    def __init__(self) -> None:
        super().__init__(names.AGENT_TYPE, portbindings.VIF_TYPE_VHOST_USER, {portbindings.CAP_PORT_FILTER: False})

    @property
    def connectivity(self) -> str:
        """Layer 2."""
        return str(portbindings.CONNECTIVITY_L2)

    def get_allowed_network_types(self, agent: Any = None) -> tuple[str, ...]:
        """Return the types of network segments that the agent makes."""
        return names.NETWORK_TYPES

    def get_mappings(self, agent: Any) -> Any:
        """Return the physical networks that an agent's VPP leads to."""
        return agent["configurations"].get("physical_networks", ())

    def get_vif_details(self, context: Any, agent: Any, segment: Any) -> dict[str, Any]:
        """Return the details from which Nova makes the guest's interface.

        The guest's QEMU serves the socket, so a restarted VPP finds it again by itself.
        """
        folder = agent["configurations"]["vhostuser_socket_dir"]
        return {
            **self.vif_details,
            portbindings.VHOST_USER_MODE: portbindings.VHOST_USER_MODE_SERVER,
            portbindings.VHOST_USER_SOCKET: f"{folder}/{names.socket_name(context.current['id'])}",
        }
