"""Asks the emulated eNB, a process (`emulation.py`): one line over its Unix socket, one JSON document back."""

import json
from pathlib import Path
from typing import Any

from nfvbed.errors import VnfDiedError
from nfvbed.host import linesocket
from nfvbed.units import NS_PER_S
from nfvbed.vnfs.epc.reports import ANSWER_S, BURST_NS, AttachReport, CarriedBearers

_PATIENCE_S = 5.0


class Emulator:
    """A client of the emulated eNB."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def listens(self) -> bool:
        """Return whether the eNB answers: the MME has accepted it then."""
        return linesocket.listens(self._path)

    def attach(self, imsis: list[str], in_flight: int = 1) -> AttachReport:
        """Attach UEs.

        Raises:
            VnfDiedError: it does not answer, or its association is gone.
        """
        # Each may wait for its answer, and for the functions to be able to take it.
        patience_s = _PATIENCE_S + ANSWER_S + len(imsis) * (ANSWER_S + BURST_NS / NS_PER_S)
        return AttachReport.model_validate(
            self._ask({"do": "attach", "imsis": imsis, "in_flight": in_flight}, patience_s)
        )

    def detach(self, imsis: list[str]) -> AttachReport:
        """Detach UEs.

        Raises:
            VnfDiedError: as `attach`.
        """
        patience_s = _PATIENCE_S + len(imsis) * (ANSWER_S + BURST_NS / NS_PER_S)
        return AttachReport.model_validate(self._ask({"do": "detach", "imsis": imsis}, patience_s))

    def carried(self) -> CarriedBearers:
        """Read the bearers of the attached UEs.

        Raises:
            VnfDiedError: as `attach`.
        """
        return CarriedBearers.model_validate(self._ask({"do": "bearers"}, _PATIENCE_S))

    def _ask(self, request: dict[str, Any], patience_s: float) -> dict[str, Any]:
        try:
            answer = linesocket.ask(self._path, json.dumps(request), patience_s)
        except (OSError, ValueError) as failure:
            raise VnfDiedError(
                "the emulated eNB does not answer", where=str(self._path), observed=repr(failure), fix="see its log"
            ) from failure
        if "error" in answer:
            raise VnfDiedError(
                answer["error"],
                where=answer.get("where", ""),
                observed=answer.get("observed", ""),
                fix=answer.get("fix", ""),
            )
        return answer
