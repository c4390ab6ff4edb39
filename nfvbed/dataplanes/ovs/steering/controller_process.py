"""The OpenFlow controller's process: `python -m nfvbed...controller_process PATH_FILE SOCKET PORT`.

It listens for switches on the loopback address of its network namespace (os-ken cannot listen on a Unix socket) and
answers on a Unix socket, one JSON line for one: `{"do": "status"}`, `{"do": "counters"}`, and `{"do": "change"}`, which
reads the path's file again. It runs until it is ended.
"""

import json
import logging
import socketserver
import sys
import threading
from pathlib import Path

from os_ken import cfg
from os_ken.base.app_manager import AppManager

from nfvbed.dataplanes.ovs.steering.path_app import PathApp

ADDRESS = "127.0.0.1"
SCHEMA = "nfvbed-steering/1"
_LISTENING = "0A"
"""The state TCP_LISTEN in /proc/net/tcp (proc(5))."""


class StatusServer(socketserver.ThreadingUnixStreamServer):
    """Answers what nfvbed asks."""

    daemon_threads = True

    def __init__(self, path: Path, port: int) -> None:
        # It appears under its name only once it listens.
        unborn = path.with_name(f"{path.name}.new")
        super().__init__(str(unborn), _Answers)
        unborn.rename(path)
        self.port = port


class _Answers(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(json.dumps(self._answer(line)).encode() + b"\n")

    def _answer(self, line: bytes) -> dict[str, object]:
        assert isinstance(self.server, StatusServer)
        head: dict[str, object] = {"schema": SCHEMA}
        try:
            request = json.loads(line)
        except ValueError:
            return head | {"error": "this is not JSON"}
        what = request.get("do") if isinstance(request, dict) else None
        if what not in ("status", "counters", "change"):
            return head | {"error": 'it answers {"do": "status"}, {"do": "counters"} and {"do": "change"}'}
        app: PathApp | None = getattr(PathApp, "current", None)
        if app is None:
            return head | {"listening": False, "connected": False, "rules": 0, "error": ""}
        if what == "counters":
            return head | app.counters()
        if what == "change":
            return head | app.change()
        return head | {"listening": _listens(self.server.port)} | app.status()


def main(argv: list[str]) -> int:
    """Serve until ended."""
    path_file, socket, port = Path(argv[0]), Path(argv[1]), int(argv[2])
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    # Without arguments and files of its own: os-ken would read the caller's.
    options = [f"--ofp-listen-host={ADDRESS}", f"--ofp-tcp-listen-port={port}"]
    cfg.CONF(args=options, project="nfvbed", default_config_files=[], default_config_dirs=[])
    PathApp.path_file = path_file
    server = StatusServer(socket, port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    AppManager.run_apps([PathApp.__module__])
    return 0


def _listens(port: int) -> bool:
    """Whether the OpenFlow port is open in this network namespace; os-ken does not tell."""
    address = f"0100007F:{port:04X}"
    lines = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    return any(fields[1] == address and fields[3] == _LISTENING for fields in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
