"""The program on TRex's host: `trex.pyz --trex FOLDER --configuration FILE --socket PATH --port PCI --port PCI`."""

import argparse
import signal
import sys
from pathlib import Path

from nfvbed.traffic.trex import guard, server
from nfvbed.traffic.trex.serving import Server
from nfvbed.traffic.trex.trials import Trials

EXIT_GENERATOR = 24


def main() -> int:
    """Start TRex, and answer until asked to quit."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    process = None
    try:
        stl = server.client_module(arguments.trex)
        at = server.endpoints(arguments.configuration)
        process = server.start(arguments.trex, arguments.configuration, arguments.workers, arguments.software)
        client = server.connect(stl, process, at)
        server.require_ports(client, tuple(arguments.port))
        trials = Trials(stl, client, process.poll, software=arguments.software)
        commands = {"hello": trials.hello, "start": trials.start, "stats": trials.stats, "stop": trials.stop}
        Server(arguments.socket, commands).serve()
    except server.StartFailed as failure:
        sys.stderr.write(f"{failure}\n")
        return EXIT_GENERATOR
    finally:
        # A second request does not cut this short.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if process is not None:
            guard.end(process)
        arguments.socket.unlink(missing_ok=True)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trex", type=Path, required=True, help="TRex's folder")
    parser.add_argument("--configuration", type=Path, required=True, help="TRex's file with ports and cores")
    parser.add_argument("--socket", type=Path, required=True, help="where this listens")
    parser.add_argument("--port", action="append", default=[], help="PCI address, for each port; none: kernel devices")
    parser.add_argument("--workers", type=int, default=1, help="threads for each pair of ports")
    parser.add_argument("--software", action="store_true", help="TRex counts streams, and not its NICs")
    return parser.parse_args()
