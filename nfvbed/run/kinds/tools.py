"""The tools between sockets, found."""

from nfvbed.traffic.sockets import sockettools
from nfvbed.traffic.sockets.netperf import NetperfPrograms


def netperf_programs() -> NetperfPrograms:
    """Find netperf and its server.

    Raises:
        PrerequisiteError: one is not there, or does not run.
    """
    client = sockettools.netperf()
    return NetperfPrograms(client, sockettools.netperf("netserver"), sockettools.version(client, "-V"))
