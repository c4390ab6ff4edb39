"""A server with given answers, on loopback or a Unix socket: a double of nfvbed's dashboard."""

import socketserver
import ssl
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        """Answer with what the server has for a path."""
        self.server.asked.append((self.path, dict(self.headers)))
        status, body = self.server.answers.get(self.path, (404, b"none"))
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""

    def address_string(self):
        """A Unix socket's client has no address."""
        return ""


class Tcp(socketserver.ThreadingTCPServer):
    """On loopback."""

    allow_reuse_address = True
    daemon_threads = True


class Tls(Tcp):
    """On loopback, with a certificate."""

    def __init__(self, address, RequestHandlerClass, pair):
        super().__init__(address, RequestHandlerClass)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*pair)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, *_):
        """Say nothing of clients that trust it not."""


class Unix(socketserver.ThreadingUnixStreamServer):
    """On a Unix socket."""

    daemon_threads = True


@contextmanager
def served(server, answers):
    """Serve answers by path; yields what was asked: (path, headers).

    Args:
        server: makes one, given a class of handlers.
        answers: (status, body) by path.
    """
    with server(RequestHandlerClass=_Handler) as live:
        live.answers, live.asked = answers, []
        thread = threading.Thread(target=live.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield live
        finally:
            live.shutdown()
            thread.join()
