"""The OpenFlow controller's process: `python -m nfvbed...controller_process PATH_FILE SOCKET PORT`.

It listens for switches on the loopback address of its network namespace. On a Unix socket it answers one JSON line for
one: `{"do": "status"}`, `{"do": "counters"}`, and `{"do": "change"}`, which reads the path's file again. It runs until
it is ended.
"""

import json
import logging
import socket
import socketserver
import sys
import threading
from pathlib import Path

from nfvbed.dataplanes.ovs.steering.path_controller import PathController

ADDRESS = "127.0.0.1"
SCHEMA = "nfvbed-steering/1"


class StatusServer(socketserver.ThreadingUnixStreamServer):
    """Answers nfvbed's requests."""

    daemon_threads = True

    def __init__(self, path: Path, controller: PathController) -> None:
        # It appears under its name only once it listens.
        unborn = path.with_name(f"{path.name}.new")
        super().__init__(str(unborn), _Answers)
        unborn.rename(path)
        self.controller = controller


class _Answers(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(json.dumps(self._answer(line)).encode() + b"\n")

    def _answer(self, line: bytes) -> dict[str, object]:
        assert isinstance(self.server, StatusServer)
        controller = self.server.controller
        head: dict[str, object] = {"schema": SCHEMA}
        try:
            request = json.loads(line)
        except ValueError:
            return head | {"error": "this is not JSON"}
        match request.get("do") if isinstance(request, dict) else None:
            case "status":
                return head | controller.status()
            case "counters":
                return head | controller.counters()
            case "change":
                return head | controller.change()
            case _:
                return head | {"error": 'it answers {"do": "status"}, {"do": "counters"} and {"do": "change"}'}


def main(argv: list[str]) -> int:
    """Serve until the process is ended."""
    path_file, status_socket, port = Path(argv[0]), Path(argv[1]), int(argv[2])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    with socket.create_server((ADDRESS, port)) as listening:
        controller = PathController(path_file, listening)
        # A reader of the status socket may connect a switch: it is there after the port.
        server = StatusServer(status_socket, controller)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        controller.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
