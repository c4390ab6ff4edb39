"""What a gateway spent for each frame, between two readings of its counters."""

import pytest

from nfvbed.vnfs.gateway.client import GatewayCounts, PortCounts
from nfvbed.vnfs.gateway.reader import GatewayReader

ZERO = {name: 0 for name in PortCounts.model_fields if name not in ("name", "neighbour")}


def counts(s1u, sgi, busy, gateway="dpdk"):
    ports = [
        {"neighbour": None, **ZERO, "name": name, "received": received}
        for name, received in (("s1u", s1u), ("sgi", sgi))
    ]
    return GatewayCounts.model_validate({"gateway": gateway, "bearers": 1, "busy_cycles": busy, "ports": ports})


class Answers:
    def __init__(self, *answers):
        self.left = list(answers)

    def counters(self):
        return self.left.pop(0)


def read(*answers):
    reader = GatewayReader(Answers(*answers))
    reader.start()
    reader.stop()
    return reader.rows()


def test_cycles_are_of_what_came_in_between():
    (row,) = read(counts(100, 50, 7_000), counts(160, 90, 27_000))
    assert (row.label, row.parameters["received"], row.parameters["busy_cycles"]) == ("dpdk gateway", 100, 20_000)
    assert [(q.name, q.value, q.unit) for q in row.quantities] == [("cycles", pytest.approx(200.0), "cycles/packet")]


def test_without_packets_there_is_a_reason_in_place_of_a_figure():
    (row,) = read(counts(1, 1, 5), counts(1, 1, 5))
    assert (row.quantities[0].value, row.reason) == (None, "no packets")


def test_a_gateway_without_a_loop_has_no_row():
    assert read(counts(0, 0, None, "xdp"), counts(9, 9, None, "xdp")) == ()
