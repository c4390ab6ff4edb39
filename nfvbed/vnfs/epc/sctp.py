"""An SCTP association between the emulated eNB and its MME: the kernel's, or libusrsctp's where the kernel has none."""

import ctypes
import os
import select
import socket

from nfvbed.errors import PrerequisiteError, VnfDiedError
from nfvbed.host import fixes

S1AP_PORT, PPID = 36412, 18
"""Port and payload protocol identifier of S1AP (TS 36.412)."""
LONGEST = 65536
"""The longest message, in bytes."""
IPPROTO_SCTP = 132
_NODELAY = 3
_NOTIFICATION = 0x8000
_LIBRARY = "libsctp.so.1"
_STREAM_OF_UES = 1


def kernel_has_sctp() -> bool:
    """Return whether the kernel has SCTP, by opening a socket."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SCTP).close()
    except OSError:
        return False
    return True


class Association:
    """A one-to-one association, from the side that connects.

    Raises:
        VnfDiedError: there is no answer.
        PrerequisiteError: the system has no library for SCTP.
    """

    def __init__(self, address: str, port: int) -> None:
        self._calls = _library()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SCTP)
        # Without it each message would wait for the answer to the one before, 200 ms in an attach.
        self._socket.setsockopt(IPPROTO_SCTP, _NODELAY, 1)
        self._buffer = ctypes.create_string_buffer(LONGEST)
        try:
            self._socket.connect((address, port))
        except OSError as failure:
            self._socket.close()
            raise VnfDiedError(
                "the MME takes no SCTP association",
                where=f"{address} port {port}",
                observed=str(failure),
                fix="see mme.log in the run directory",
            ) from failure

    def fileno(self) -> int:
        """Return the descriptor, for select()."""
        return self._socket.fileno()

    def send(self, message: bytes, of_ue: bool) -> None:
        """Send one message; those of UEs go on another stream than those of the eNB.

        Raises:
            VnfDiedError: the association is gone.
        """
        stream = _STREAM_OF_UES if of_ue else 0
        arguments = (len(message), None, 0, socket.htonl(PPID), 0, stream, 0, 0)
        if self._calls.sctp_sendmsg(self.fileno(), message, *arguments) != len(message):
            raise _gone(os.strerror(ctypes.get_errno()))

    def receive(self, timeout_s: float) -> bytes | None:
        """Wait for a message; None: none came in time.

        Raises:
            VnfDiedError: the association is gone.
        """
        while select.select([self._socket], [], [], timeout_s)[0]:
            flags = ctypes.c_int(0)
            length = self._calls.sctp_recvmsg(
                self.fileno(), self._buffer, LONGEST, None, None, None, ctypes.byref(flags)
            )
            if length <= 0:
                raise _gone("the MME has closed the association")
            if not flags.value & _NOTIFICATION:
                return ctypes.string_at(self._buffer, length)
        return None

    def close(self) -> None:
        """Shut the association down."""
        self._socket.close()


def _library() -> ctypes.CDLL:
    """Return the library with SCTP's calls: the preloaded one, else the system's."""
    own = ctypes.CDLL(None, use_errno=True)
    if hasattr(own, "sctp_sendmsg"):
        return own
    try:
        return ctypes.CDLL(_LIBRARY, use_errno=True)
    except OSError as failure:
        raise PrerequisiteError(
            "the emulated eNB needs a library for SCTP",
            where=_LIBRARY,
            observed=str(failure),
            fix=fixes.install("libsctp", "libsctp1"),
        ) from failure


def _gone(observed: str) -> VnfDiedError:
    return VnfDiedError(
        "the association between eNB and MME is gone",
        observed=observed,
        fix="see mme.log in the run directory; nfvbed heal starts the functions again",
    )
