"""Output of instances: Nova says ACTIVE of a guest that never boots, and its console shows that."""

from typing import Any

import openstack.connection
from openstack import exceptions as sdk


def last_lines(connection: openstack.connection.Connection, server: str, count: int) -> list[str]:
    """Return the last lines of an instance's console that are not empty; none before it is on a host."""
    try:
        answer: Any = connection.compute.get_server_console_output(server, length=count)
    except sdk.SDKException:
        return []
    text = answer.get("output") if isinstance(answer, dict) else str(answer or "")
    return [line.strip() for line in (text or "").splitlines() if line.strip()][-count:]
