"""vhost-user ports as the generator opens them, the same for the switch and its ceilings.

The generator is the virtio side and the *server* of the socket: a switch that is the client connects again by itself
when the generator is started anew, which a generator on the client's side would not.
"""

from pathlib import Path

from nfvbed.errors import DeployError
from nfvbed.records import GeneratorPort, PortKind

MACS = ("02:4e:46:56:00:01", "02:4e:46:56:00:02")
"""Locally administered, fixed: a switch that learns sees the same addresses in every run."""


def sockets(directory: Path) -> tuple[Path, Path]:
    """Give the sockets' paths in a run directory.

    Raises:
        DeployError: something is there already.
    """
    paths = (directory / "p0.sock", directory / "p1.sock")
    for path in paths:
        refuse_busy(path)
    return paths


def refuse_busy(path: Path) -> None:
    """Make sure that nobody holds a vhost-user socket's path.

    Raises:
        DeployError: something is there.
    """
    if path.exists() or path.is_symlink():
        raise DeployError(
            "a vhost-user socket is busy",
            where=str(path),
            observed="the path exists: another process listens there, or one that died left it",
            fix="end that process and remove the path, then deploy again",
        )


def server_port(index: int, path: Path, queue_size: int) -> GeneratorPort:
    """Give a generator's port that listens for a switch."""
    spec = f"net_virtio_user{index},path={path},server=1,queue_size={queue_size},mac={MACS[index]}"
    return GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.VHOST_USER)


def server_ports(paths: tuple[Path, Path], queue_size: int) -> tuple[GeneratorPort, GeneratorPort]:
    """Give the generator's two ports, both of which listen."""
    return server_port(0, paths[0], queue_size), server_port(1, paths[1], queue_size)


def check_queue_size(size: int) -> None:
    """Make sure that a virtio ring can have that size.

    Raises:
        DeployError: it is no power of two.
    """
    if size & (size - 1):
        raise DeployError(
            "a virtio ring has a power of two of descriptors",
            where="rx_queue_size",
            observed=str(size),
            fix=f"choose {1 << (size.bit_length() - 1)} or {1 << size.bit_length()}",
        )
