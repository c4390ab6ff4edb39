"""VPP's node counters. The values are made up in the form that `vpp_papi` documents: no VPP has written them."""

import pytest

from nfvbed.dataplanes.vpp.runtime import between, runtime_of
from nfvbed.dataplanes.vpp.telemetry import node_rows
from nfvbed.errors import InternalError


def statistics(factor: int) -> dict[str, list[object]]:
    return {
        "/sys/node/names": ["null-node", "vhost-user-input", "vhost-user-output"],
        "/sys/node/calls": [[0, 0, 0], [0, 100 * factor, 50 * factor]],
        "/sys/node/vectors": [[0, 0, 0], [0, 1600 * factor, 1600 * factor]],
        "/sys/node/clocks": [[0, 0, 0], [0, 251_200 * factor, 272_000 * factor]],
    }


def test_nodes_between_two_readings():
    nodes = between(runtime_of(statistics(1)), runtime_of(statistics(3)))
    assert [(node.thread, node.node, node.vectors) for node in nodes] == [
        (1, "vhost-user-input", 3200),
        (1, "vhost-user-output", 3200),
    ]
    assert [node.cycles_per_packet for node in nodes] == [157.0, 170.0]
    assert [row.quantities[0].value for row in node_rows(nodes)] == [157.0, 170.0]


def test_what_is_missing_is_no_zero():
    lacking = {name: values for name, values in statistics(1).items() if not name.endswith("clocks")}
    with pytest.raises(InternalError, match="lacks entries"):
        runtime_of(lacking)


def test_entries_of_other_lengths_are_refused():
    with pytest.raises(InternalError, match="one length"):
        runtime_of(statistics(1) | {"/sys/node/calls": [[0, 0], [0, 100]]})
