"""Operations in the life cycle of a VNF instance (SOL003): requested, awaited, and ended where Tacker lost one."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tackerclient.common import exceptions as tacker_errors

from nfvbed.cloud.tacker.connection import asking, status
from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import OnboardError

_GOING_ON = ("STARTING", "PROCESSING", "ROLLING_BACK")
_FAILED_TEMP = "FAILED_TEMP"
_CONFLICT = 409


class Operations:
    """The operations of one VNF instance."""

    def __init__(self, tacker: Any, instance: str) -> None:
        self._tacker = tacker
        self._instance = instance

    def all(self) -> list[dict[str, Any]]:
        """Return Tacker's operations, the oldest first."""
        listed: list[dict[str, Any]] = self._tacker.list_vnf_lcm_op_occs(filter=f"(eq,vnfInstanceId,{self._instance})")
        return sorted(listed, key=lambda one: str(one["startTime"]))

    def run(self, name: str, request: Callable[[], object]) -> None:
        """Request an operation and wait until it is done.

        Args:
            name: the operation's name in time limits: `instantiate`, `scale`, `heal`, `terminate`.

        Raises:
            OnboardError: the operation failed, with Tacker's error; or it took too long, with its state.
        """
        what = f"{name} of VNF instance {self._instance}"
        seen: dict[str, Any] = {}
        with asking(what):
            before = {one["id"] for one in self.all()}
            request()

            def settled() -> bool:
                new = [one for one in self.all() if one["id"] not in before]
                seen.update(new[-1] if new else {"operationState": "not begun"})
                return seen["operationState"] not in (*_GOING_ON, "not begun")

            waited = wait(name, settled)
        state, where = seen["operationState"], f"operation {seen.get('id', '')}".strip()
        if not waited.done:
            raise OnboardError(f"{what} stays {state}", where=where, observed=waited.too_long)
        if state != "COMPLETED":
            with asking(what):
                shown = self._tacker.show_vnf_lcm_op_occs(seen["id"])  # lists leave errors out
            raise OnboardError(f"{what} ended as {state}", where=where, observed=f"Tacker: {error(shown)}")

    def end(self) -> None:
        """End running operations and fail failed ones, so that the instance can be terminated or deleted.

        Tacker cancels a PROCESSING operation after a minute; it cannot end one that is STARTING.
        """
        with asking(f"the operations of VNF instance {self._instance}"):
            wait("settle", lambda: not self._in(*_GOING_ON))
            for stuck in self._in("PROCESSING"):
                wait("cancel", partial(self._cancelled, stuck["id"]))
            self.fail()

    def fail(self) -> None:
        """Fail those operations that are FAILED_TEMP: Tacker does not delete an instance with one."""
        for failed in self._in(_FAILED_TEMP):
            self._tacker.fail_vnf_instance(failed["id"])

    def _in(self, *states: str) -> list[dict[str, Any]]:
        return [one for one in self.all() if one["operationState"] in states]

    def _cancelled(self, identifier: str) -> bool:
        """Cancel an operation; return whether it no longer runs."""
        if identifier not in {one["id"] for one in self._in(*_GOING_ON)}:
            return True
        try:
            self._tacker.cancel_vnf_instance(identifier, {"cancelMode": "FORCEFUL"})
        except tacker_errors.TackerException as failure:
            # A conflict: not yet. Anything else: Tacker cannot, as where the VNF's status is no longer that of an
            # operation.
            return status(failure) != _CONFLICT
        return False


def error(operation: dict[str, Any]) -> str:
    """Return an operation's error in one line."""
    found = operation.get("error") or {}
    text = found.get("detail") or found.get("title") if isinstance(found, dict) else found
    return " ".join(str(text or "it gives no reason").split())
