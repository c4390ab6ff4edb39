"""VPP's binary API over its socket, by `vpp_papi`.

The definitions of the messages come from the running VPP itself (`get_api_json`), never from files that may belong to
another version.
"""

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from vpp_papi import VPPApiClient

from nfvbed.errors import DeployError
from nfvbed.patience import patient

PATIENCE_S = patient(30.0)
"""Its DPDK plug-in opens NICs before it listens."""
_NAME = "nfvbed"


class VppApi:
    """One connection; use it as a context manager, or with `open` and `close`.

    Args:
        socket: the path on which VPP listens.
        check: raises when VPP has ended.
    """

    def __init__(self, socket: Path, check: Callable[[], None]) -> None:
        self._socket = socket
        self._check = check
        self._client: Any = None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def open(self) -> Self:
        """Connect to VPP, waiting until it listens.

        Raises:
            SwitchDiedError: VPP has ended.
            DeployError: it does not answer.
        """
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self._check()
            client = VPPApiClient(bootstrapapi=True, async_thread=False, server_address=str(self._socket))
            try:
                client.connect(_NAME)
                break
            except (OSError, VPPApiClient.VPPApiError) as failure:
                if time.monotonic() > deadline:
                    raise self._silent(failure) from failure
                time.sleep(0.01)
        self._client = client
        return self

    def close(self) -> None:
        """Disconnect, also from a VPP that has ended. Idempotent."""
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()

    def call(self, message: str, **arguments: Any) -> Any:
        """Send a message and wait for its answer (of a dump: the list of details).

        Raises:
            DeployError: VPP refuses it, does not know it, or does not answer.
            SwitchDiedError: it has ended.
        """
        function = getattr(self._client.api, message, None)
        if function is None:
            raise DeployError(
                f"this VPP has no message {message}",
                where=str(self._socket),
                observed="it is not among its API definitions: a plug-in is missing, or the version is another one",
                fix="install vpp-plugin-core of the same version; nfvbed was tried with VPP 26.06",
            )
        try:
            reply = function(**arguments)
        except (OSError, VPPApiClient.VPPApiError) as failure:
            self._check()
            raise self._silent(failure) from failure
        status = getattr(reply, "retval", 0)
        if status:
            given = ", ".join(f"{key}={value}" for key, value in arguments.items())
            raise DeployError(
                f"VPP refuses {message}",
                where=given or str(self._socket),
                observed=f"return value {status} (VNET_API_ERROR_* of VPP's vnet/error.h)",
                fix="see VPP's log in the run directory",
            )
        return reply

    def command(self, line: str) -> str:
        """Run a command of VPP's console, and return its output; for what the API lacks."""
        return str(self.call("cli_inband", cmd=line).reply)

    def version(self) -> str:
        """Return the version of the running VPP ("26.06-release")."""
        return str(self.call("show_version").version)

    def _silent(self, failure: Exception) -> DeployError:
        return DeployError("VPP does not answer on its API", where=str(self._socket), observed=str(failure))
