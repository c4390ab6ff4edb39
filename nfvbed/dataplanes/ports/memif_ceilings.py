"""The ceilings of memif ports: those of vhost-user ports, over memif."""

from pathlib import Path

from nfvbed.dataplanes.ports import memif
from nfvbed.dataplanes.ports.testpmd_io import TestpmdIo
from nfvbed.dataplanes.ports.vhost_user_ceilings import BareVhost, LoopbackVhost
from nfvbed.records import CellRole, GeneratorPort, VnfPort
from nfvbed.spec.layout import End


class LoopbackMemif(LoopbackVhost):
    """Both ends of one memif in the generator, whose thread also does the switch's part of the copying."""

    kind = "loopback-memif"

    def ports(self, path: Path, size: int) -> tuple[GeneratorPort, GeneratorPort]:
        """Return both ends of a socket."""
        first = memif.generator_port(0, path, size, listens=True)
        return first, memif.generator_port(1, path, size)


class BareMemif(BareVhost):
    """A VNF that listens on two sockets, to which the generator connects."""

    kind = "bare-memif"

    def ports(self, paths: tuple[Path, ...], size: int) -> tuple[GeneratorPort, ...]:
        """Return the generator's ports."""
        return tuple(memif.generator_port(index, path, size) for index, path in enumerate(paths))

    def vnf_port(self, end: End, path: Path, size: int) -> VnfPort:
        """Return the VNF's port on a socket."""
        return memif.vnf_port(end, path, size, listens=True)


class TestpmdMemif(TestpmdIo):
    """testpmd io that listens on both sockets, as the switch does."""

    __test__ = False
    kind = "testpmd-memif"

    def vdev(self, index: int, socket: Path, size: int) -> str:
        """Return testpmd's port on a socket."""
        return memif.devargs(f"net_memif{index}", socket, size, listens=True)

    def ports(self, sockets: tuple[Path, ...], size: int) -> tuple[GeneratorPort, ...]:
        """Return the generator's ports."""
        return tuple(memif.generator_port(index, path, size) for index, path in enumerate(sockets))


CEILINGS = {CellRole.LOOPBACK: LoopbackMemif, CellRole.VNF: BareMemif, CellRole.REFERENCE: TestpmdMemif}
