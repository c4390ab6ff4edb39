"""The mode of a NIC's embedded switch, over devlink (Documentation/networking/devlink/, `devlink dev eswitch`)."""

from typing import Any

from pyroute2 import DL
from pyroute2.netlink import NLM_F_ACK, NLM_F_REQUEST
from pyroute2.netlink.devlink import DEVLINK_CMD_ESWITCH_GET, DEVLINK_CMD_ESWITCH_SET, devlinkcmd
from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.errors import UnsupportedError

_MODES = {0: "legacy", 1: "switchdev"}
"""enum devlink_eswitch_mode."""
_NUMBERS = {name: number for number, name in _MODES.items()}


def mode(address: str) -> str | None:
    """Return the mode of a PCI device's embedded switch; None: the driver does not tell, or has no choice of modes."""
    try:
        with DL() as link:
            answers = _ask(link, _message(DEVLINK_CMD_ESWITCH_GET, address))
    except (NetlinkError, OSError):
        return None
    modes = [answer.get_attr("DEVLINK_ATTR_ESWITCH_MODE") for answer in answers]
    return next((_MODES.get(number, str(number)) for number in modes if number is not None), None)


def set_mode(address: str, wanted: str) -> None:
    """Set the mode. The kernel refuses while virtual functions have drivers.

    Raises:
        UnsupportedError: the NIC or its driver has no such mode.
    """
    message = _message(DEVLINK_CMD_ESWITCH_SET, address)
    message["attrs"].append(("DEVLINK_ATTR_ESWITCH_MODE", _NUMBERS[wanted]))
    try:
        with DL() as link:
            _ask(link, message)
    except (NetlinkError, OSError) as failure:
        raise UnsupportedError(
            f"the embedded switch cannot be set to {wanted}",
            where=f"pci/{address}",
            observed=str(failure),
            fix="embedded_switch: legacy; switchdev takes a ConnectX-4 Lx or later (mlx5) or an E810 (ice)",
        ) from failure


def _message(command: int, address: str) -> Any:
    message = devlinkcmd()
    message["cmd"] = command
    message["version"] = 1
    message["attrs"] = [("DEVLINK_ATTR_BUS_NAME", "pci"), ("DEVLINK_ATTR_DEV_NAME", address)]
    return message


def _ask(link: Any, message: Any) -> list[Any]:
    return list(link.nlm_request(message, msg_type=link.prid, msg_flags=NLM_F_REQUEST | NLM_F_ACK))
