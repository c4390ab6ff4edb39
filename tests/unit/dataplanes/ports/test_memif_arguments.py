"""Arguments of memif ports fit what DPDK takes."""

from nfvbed.dataplanes.ports import memif
from nfvbed.host.ledger.places import RUN_DIRECTORY

MOST = 128
"""Characters of a port's arguments: newer DPDKs refuse more (24.11: "devargs truncated")."""


def test_the_longest_arguments_are_taken_by_dpdk():
    path = RUN_DIRECTORY / "01234567" / "v16b.sock"
    names = ("net_memif_v16b", "net_memif15")
    for name in names:
        arguments = f"{memif.devargs(name, path, 4096, listens=True)},mac=02:4e:46:56:11:00"
        assert len(arguments) <= MOST
    assert len(memif.generator_port(1, path, 4096, queues=16).spec) <= MOST
