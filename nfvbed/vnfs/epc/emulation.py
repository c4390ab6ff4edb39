"""The emulated eNB as a process in its namespace: one line over its Unix socket, one JSON document back.

`python -m nfvbed.vnfs.epc.emulation SOCKET SIMS NETWORK MME ADDRESS`: SIMS holds its UEs' keys, readable by root
alone, NETWORK what it is of; requests name UEs by their IMSI.
"""

import json
import socket
import sys
from collections.abc import Callable
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from nfvbed.errors import NfvbedError, UsageError
from nfvbed.patience import patient
from nfvbed.records import Record
from nfvbed.spec.corenetwork import CoreNetwork
from nfvbed.vnfs.epc.enb import Enb
from nfvbed.vnfs.epc.reports import BURST, CarriedBearers
from nfvbed.vnfs.epc.sctp import S1AP_PORT, Association
from nfvbed.vnfs.epc.subscribers import Subscriber

LONGEST_LINE = 65536
_LINE_S = patient(5.0)
"""How long a client may take to ask: the eNB answers one at a time."""


class Service:
    """Answers requests to an eNB, one at a time.

    Args:
        sims: SIMs of the UEs.
    """

    def __init__(self, enb: Enb, sims: dict[str, Subscriber]) -> None:
        self._enb = enb
        self._sims = sims
        self._does: dict[str, Callable[[dict[str, Any]], Record]] = {
            "attach": self._attach,
            "detach": self._detach,
            "bearers": self._bearers,
        }

    def answer(self, line: bytes) -> dict[str, Any]:
        """Execute a line's request, and return the answer; an error is an answer too."""
        try:
            request = json.loads(line)
            return self._does[request["do"]](request).model_dump(mode="json")
        except NfvbedError as failure:
            told = {"where": failure.where, "observed": failure.observed, "fix": failure.fix}
            return {"error": failure.what, **told}
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as failure:
            return {"error": "the emulated eNB is asked for something else than it does", "observed": repr(failure)}

    def _attach(self, request: dict[str, Any]) -> Record:
        wanted = [self._sim(imsi) for imsi in request["imsis"]]
        return self._enb.attach(wanted, max(1, min(int(request["in_flight"]), BURST)))

    def _detach(self, request: dict[str, Any]) -> Record:
        return self._enb.detach(request["imsis"])

    def _bearers(self, request: dict[str, Any]) -> Record:
        found = self._enb.bearers()
        return CarriedBearers(sgw=str(found[0][1]) if found else "", bearers=tuple(bearer for bearer, _ in found))

    def _sim(self, imsi: str) -> Subscriber:
        if imsi not in self._sims:
            raise UsageError("no UE has this number", observed=str(imsi), fix="see sims.json in the run directory")
        return self._sims[imsi]


def serve(listening: socket.socket, service: Service) -> None:
    """Answer every client until the process is ended."""
    while True:
        connection, _ = listening.accept()
        with connection:
            try:
                _serve_one(connection, service)
            except OSError as failure:
                print(f"nfvbed-enb: the client has gone: {failure}", flush=True)


def _serve_one(connection: socket.socket, service: Service) -> None:
    connection.settimeout(_LINE_S)
    with connection.makefile("rb") as lines:
        line = lines.readline(LONGEST_LINE)
    if line:
        connection.sendall(json.dumps(service.answer(line)).encode())


def main(path: str, sims: str, network: str, mme: str, address: str) -> None:
    """Present the eNB to its MME, and serve."""
    subscribers = [Subscriber.model_validate(one) for one in json.loads(Path(sims).read_text())]
    served = CoreNetwork.model_validate_json(Path(network).read_text())
    enb = Enb(Association(mme, S1AP_PORT), IPv4Address(address), served)
    enb.set_up()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(path)
        listening.listen()
        serve(listening, Service(enb, {one.imsi: one for one in subscribers}))


if __name__ == "__main__":
    main(*sys.argv[1:])
