"""The library that answers the socket calls of SCTP where the kernel has none (`native/sctp`)."""

from pathlib import Path

from nfvbed.host.native import native_binary
from nfvbed.vnfs.epc.sctp import kernel_has_sctp

SHIM = "nfvbed-sctp"


def environment(root: Path) -> dict[str, str]:
    """Return the variables that load the SCTP library into a program; none where the kernel has SCTP.

    Raises:
        PrerequisiteError: the library for it is not built.
    """
    return {} if kernel_has_sctp() else {"LD_PRELOAD": str(native_binary(SHIM, root))}
