"""Machines of a VNF in a cloud: the instance of each, and the zones that bring them to their computes."""

import base64
from collections.abc import Sequence

from openstack.connection import Connection

from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker.connection import asking

_MACHINE = "vnf.machine="
"""Word of user data (`descriptors/machines/userdata.py`)."""


def by_machine(connection: Connection, instances: Sequence[PlacedInstance]) -> dict[str, PlacedInstance]:
    """Return instances by the machine that their user data names; others are left out.

    Raises:
        OnboardError, UnsupportedError: Nova does not say.
    """
    found: dict[str, PlacedInstance] = {}
    for one in instances:
        with asking(f"instance {one.name}"):
            said = str(connection.compute.get_server(one.id).user_data or "")
        for word in base64.b64decode(said).decode(errors="replace").split():
            if word.startswith(_MACHINE):
                found[word.removeprefix(_MACHINE)] = one
    return found
