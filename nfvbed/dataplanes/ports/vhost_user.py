"""vhost-user ports as the generator opens them, the same for the switch and its ceilings.

The generator is the virtio side and the *server* of the socket: a switch as the client connects again by itself when
the generator is restarted. A generator as the client would not.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nfvbed.dataplanes.wiring import end_mac
from nfvbed.errors import DeployError, InternalError
from nfvbed.records import GeneratorPort, PortKind, VnfPort
from nfvbed.spec.layout import End

MACS = ("02:4e:46:56:00:01", "02:4e:46:56:00:02")
"""Locally administered, fixed: a switch that learns sees the same addresses in every run."""
IDLE = "net_null0,no-rx=1"
"""A generator's port that leads nowhere: it takes all frames and gives none."""
MAX_SOCKET_PATH_BYTES = 107
"""sun_path of unix(7), without its terminating zero."""


def sockets(directory: Path, names: Iterable[str] = ("p0", "p1")) -> dict[str, Path]:
    """Return the paths of the sockets in a run directory, by the names of their ports.

    Raises:
        DeployError: something is there already, or a path is too long for a Unix socket.
    """
    paths = {name: directory / f"{name}.sock" for name in names}
    for path in paths.values():
        if len(str(path).encode()) > MAX_SOCKET_PATH_BYTES:
            raise DeployError(
                "the path of a vhost-user socket is too long for a Unix socket",
                where=str(path),
                observed=f"{len(str(path).encode())} bytes; {MAX_SOCKET_PATH_BYTES} fit",
                fix="choose a shorter run directory",
            )
        refuse_busy(path)
    return paths


def refuse_busy(path: Path) -> None:
    """Check that nothing is at a vhost-user socket's path.

    Raises:
        DeployError: something is there.
    """
    if path.exists() or path.is_symlink():
        raise DeployError(
            "a vhost-user socket is busy",
            where=str(path),
            observed="the path exists: another process listens there, or one that died left it",
            fix="see which process listens (ss -xlp): end it if it is yours alone; remove a path without a listener;"
            " then deploy again",
        )


def server_port(index: int, path: Path, queue_size: int, queues: int = 1) -> GeneratorPort:
    """Return a generator's port that listens for a switch, with so many queue pairs."""
    spec = f"net_virtio_user{index},path={path},server=1,queue_size={queue_size},mac={MACS[index]}"
    return GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.VHOST_USER, queues=queues, ring_size=queue_size)


def server_ports(paths: Sequence[Path], queue_size: int) -> tuple[GeneratorPort, ...]:
    """Return the generator's ports, all of which listen."""
    return tuple(server_port(index, path, queue_size) for index, path in enumerate(paths))


def vnf_port(end: End, path: Path, queue_size: int, queues: int = 1) -> VnfPort:
    """Return a VNF's port. The VNF makes and serves its socket; the switch uses as many queues as the VNF has."""
    if end.vnf is None:
        raise InternalError("an outside end is no VNF's port", where=str(path))
    return VnfPort(
        name=end.name,
        vnf=end.vnf,
        port=end.port,
        kind=PortKind.VHOST_USER,
        address=str(path),
        mac=end_mac(end),
        queue_size=queue_size,
        queues=queues,
    )
