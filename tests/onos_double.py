"""A double of ONOS's REST server: answers requests as recorded in `onos.json`, and nothing else; or as a test says.

The pairs are written after ONOS's own definitions (`web/api`, release 2) and not captured from an ONOS that runs.
"""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAIRS = json.loads(
    (Path(__file__).parent / "unit" / "dataplanes" / "ovs" / "steering" / "recorded" / "onos.json").read_text()
)
USER, PASSWORD = "onos", "secret-word"
AUTHORIZATION = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


class OnosDouble:
    """Listens on the loopback address while it is open."""

    def __init__(self, answer=None):
        """`answer(method, path, body)` gives (status, JSON); by default the recorded one."""
        self.seen = []
        handler = type("Handler", (_Handler,), {"double": self, "answer": staticmethod(answer or recorded)})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def recorded(method, path, body):
    for pair in PAIRS:
        if (pair["method"], pair["path"], pair.get("body")) == (method, path, body):
            return pair["status"], pair["answer"]
    return 500, {"code": 500, "message": f"not recorded: {method} {path} {body}"}


class _Handler(BaseHTTPRequestHandler):
    double = None
    answer = None

    def _serve(self):
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        self.double.seen.append((self.command, self.path))
        if self.headers.get("Authorization") != AUTHORIZATION:
            status, answer = 401, {"code": 401, "message": "Unauthorized"}
        else:
            status, answer = self.answer(self.command, self.path, body)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", answer)
            answer = None
        self.end_headers()
        if isinstance(answer, str):
            self.wfile.write(answer.encode())
        elif answer is not None:
            self.wfile.write(json.dumps(answer).encode())

    do_GET = do_POST = do_DELETE = _serve

    def log_message(self, *arguments):
        """Nothing on the screen of the tests."""
