"""Operations in the life cycle of a VNF instance (SOL003): requested, awaited, and ended where Tacker lost one."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tackerclient.common import exceptions as tacker_errors

from nfvbed.cloud.tacker.connection import asking, status
from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import OnboardError, UnsupportedError

_GOING_ON = ("STARTING", "PROCESSING", "ROLLING_BACK")
_FAILED_TEMP = "FAILED_TEMP"
_CONFLICT = 409
_NOT_BEGUN = "not begun"
_REFUSED = ("SCALE_IN CAN NOT ROLLBACK", "OPERATION IS NOT INSTANTIATE/SCALE", "Rollback of")
"""Beginnings of what Tacker says of operations that it never rolls back: v1 in its answer (409), v2 in the error of the
operation, which it takes first and then fails again (`RollbackNotSupported`)."""


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
        with asking(what):
            before = {one["id"] for one in self.all()}
            request()
        self._settle(name, what, lambda one: one["id"] not in before, "COMPLETED")

    def failed(self) -> dict[str, Any]:
        """Return the operation that failed for the time being: it can be failed, retried, and some rolled back.

        One that still goes on, as nfvbed's own patience may have ended before Tacker's, is awaited first.

        Raises:
            OnboardError: there is none.
        """
        with asking(f"the operations of VNF instance {self._instance}"):
            wait("settle", lambda: not self._in(*_GOING_ON))
            found, known = self._in(_FAILED_TEMP), self.all()
            if found:
                # Lists leave errors out; what is shown has times in another form.
                shown = self._tacker.show_vnf_lcm_op_occs(found[-1]["id"])
                return {**found[-1], "error": shown.get("error")}
        states = ", ".join(f"{one['operation']} {one['operationState']}" for one in known) or "there are none"
        raise OnboardError(f"no operation of VNF instance {self._instance} is {_FAILED_TEMP}", observed=states)

    def retry(self) -> None:
        """Have Tacker do the failed operation once more, from the point at which it failed, and wait.

        Raises:
            OnboardError: there is none, or it failed again.
        """
        failed = self.failed()
        what = f"retry of {failed['operation']} of VNF instance {self._instance}"
        with asking(what):
            self._tacker.retry_vnf_instance(failed["id"])
        self._again(failed, what, "COMPLETED")

    def rollback(self) -> None:
        """Have Tacker undo what the failed operation made, and wait.

        Raises:
            UnsupportedError: Tacker never rolls this operation back, as it documents.
            OnboardError: there is none, or its rollback failed.
        """
        failed = self.failed()
        what = f"rollback of {failed['operation']} of VNF instance {self._instance}"
        try:
            with asking(what):
                self._tacker.rollback_vnf_instance(failed["id"])
            self._again(failed, what, "ROLLED_BACK")
        except OnboardError as failure:
            if not any(words in failure.observed for words in _REFUSED):
                raise
            raise UnsupportedError(
                f"Tacker does not roll back {failed['operation']}",
                where=f"operation {failed['id']}",
                observed=failure.observed,
                fix="retry it, or fail it and remove the VNF (nfvbed offboard)",
            ) from None

    def _again(self, failed: dict[str, Any], what: str, wanted: str) -> None:
        """Wait for the second end of an operation.

        It has begun again when it is in another state, in this one since a later time, or has failed by another error.
        """
        entered, why = failed.get("stateEnteredTime"), failed.get("error")
        begun = False

        def is_later(one: dict[str, Any]) -> bool:
            nonlocal begun
            if one["id"] != failed["id"]:
                return False
            begun |= one.get("stateEnteredTime") != entered or one["operationState"] != _FAILED_TEMP
            # Version 1 writes the state before the error: one that was not there yet tells nothing.
            begun |= bool(why) and self._tacker.show_vnf_lcm_op_occs(one["id"]).get("error") != why
            return begun

        try:
            self._settle(failed["operation"].lower(), what, is_later, wanted)
        except OnboardError as failure:
            if not failure.what.endswith(_NOT_BEGUN):
                raise
            with asking(what):
                shown = self._tacker.show_vnf_lcm_op_occs(failed["id"])
            raise OnboardError(
                f"{what} leaves it {_FAILED_TEMP}",
                where=failure.where,
                observed=f"{failure.observed}; Tacker: {error(shown)}",
                fix="correct the cause; whether it failed again or never began is not known where Tacker keeps the time"
                " of the first failure, as version 1 does for a change of connectivity, and version 2 for all",
            ) from None

    def _settle(self, name: str, what: str, is_it: Callable[[dict[str, Any]], bool], wanted: str) -> None:
        """Wait until the newest operation that is meant has ended, and check how."""
        seen: dict[str, Any] = {}

        def settled() -> bool:
            meant = [one for one in self.all() if is_it(one)]
            seen.update(meant[-1] if meant else {"operationState": _NOT_BEGUN})
            return seen["operationState"] not in (*_GOING_ON, _NOT_BEGUN)

        with asking(what):
            waited = wait(name, settled)
        state, where = seen["operationState"], f"operation {seen.get('id', '')}".strip()
        if not waited.done:
            raise OnboardError(f"{what} stays {state}", where=where, observed=waited.too_long)
        if state != wanted:
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
