"""Options of the toy."""

from typing import Literal

from pydantic import Field

from nfvbed.records import PortKind
from nfvbed.spec.options import DataPlaneOptions, veth_for_processes
from nfvbed.spec.vnf import VnfChoice


class ToyOptions(DataPlaneOptions):
    """A switch that forwards nothing."""

    dataplane: Literal["toy"]
    wheels: int = Field(4, ge=1, le=8)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Every process gets a veth."""
        return veth_for_processes(choice, "toy", "a toy carries no guests")
