"""Whether this kernel moves guests' frames itself (vhost-net)."""

import fcntl
import os

from nfvbed.errors import UnsupportedError
from nfvbed.host import fixes

VHOST_FIX = f"{fixes.load('vhost_net')}; or vhost: auto in the variant"

_VHOST_NET = "/dev/vhost-net"
_VHOST_SET_OWNER, _VHOST_GET_FEATURES = 0xAF01, 0x8008AF00


def require_vhost_net() -> None:
    """Check that the kernel itself can move a tap's frames.

    Raises:
        UnsupportedError: it cannot.
    """
    reason = vhost_net_reason()
    if reason:
        raise UnsupportedError("vhost-net is not available", observed=reason, fix=VHOST_FIX)


def vhost_net_reason() -> str:
    """Return why the kernel cannot itself move a tap's frames; empty when a vhost device could be opened and owned."""
    try:
        handle = os.open(_VHOST_NET, os.O_RDWR | os.O_CLOEXEC)
    except OSError as failure:
        return f"{_VHOST_NET}: {failure.strerror}"
    try:
        fcntl.ioctl(handle, _VHOST_SET_OWNER)
        fcntl.ioctl(handle, _VHOST_GET_FEATURES, bytes(8))
    except OSError as failure:
        return f"{_VHOST_NET} opens, and refuses: {failure.strerror}"
    finally:
        os.close(handle)
    return ""
