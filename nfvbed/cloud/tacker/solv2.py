"""Tacker's SOL API, version 2: VNF instances of their own, from the same packages and VIMs as those of version 1."""

from collections.abc import Mapping
from typing import Any

import openstack.connection

from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.lifecycle import Shown
from nfvbed.cloud.tacker.sol import DYNAMIC, SolApi

_KIND = "ETSINFV.OPENSTACK_KEYSTONE.V_3"


class SolV2Api(SolApi):
    """VNF instances below `/vnflcm/v2`.

    Tacker fills in the parameters of a package's base HOT by itself (`DefaultUserData`): flavor, image and number of
    each VDU, network of each connection point. A heal marks the instances as unhealthy, and Heat makes them again.
    """

    api = "sol-v2"
    stack_names = ("vnf-{id}",)
    protocol = DYNAMIC  # protocol data without addresses are an error to it

    def __init__(self, connection: openstack.connection.Connection, journal: Journal) -> None:
        super().__init__(connection, journal)
        self._tacker = self._account.tacker_v2

    def _require_group(self, vnf: TackerVnf, shown: Shown) -> None:
        """Accept: Tacker scales by a parameter of the HOT."""

    def _vim(self, vim: str) -> Any:
        return {"vim": {"vimId": vim, "vimType": _KIND}}

    def _config(self, protocol: Mapping[str, Any]) -> Any:
        return {"address": protocol}
