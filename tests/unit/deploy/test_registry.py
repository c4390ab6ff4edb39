"""Which adapter sets up which variant."""

import pytest

from nfvbed.deploy.dataplanes.registry import data_plane, has_ceiling
from nfvbed.errors import UnsupportedError
from nfvbed.records import CellRole, PortKind
from nfvbed.spec.variant import Variant

BRIDGE = Variant(
    name="b", title="b", port_kind=PortKind.VETH, topologies=("p2p",), options={"dataplane": "linux-bridge"}
)


def test_bridge_and_its_ceiling():
    assert data_plane(BRIDGE).kind == "linux-bridge"
    assert data_plane(BRIDGE, CellRole.LOOPBACK).kind == "loopback-veth"
    assert has_ceiling(CellRole.LOOPBACK, PortKind.VETH)


def test_ceiling_that_does_not_exist():
    assert not has_ceiling(CellRole.REFERENCE, PortKind.TAP)
    on_taps = BRIDGE.model_copy(update={"port_kind": PortKind.TAP})
    with pytest.raises(UnsupportedError, match="no reference for ports of kind tap"):
        data_plane(on_taps, CellRole.REFERENCE)


def test_data_plane_of_another_site():
    simulated = BRIDGE.model_copy(update={"options": {"dataplane": "simulated"}})
    variant = Variant.model_validate(simulated.model_dump(warnings=False))
    with pytest.raises(UnsupportedError, match="no data plane 'simulated'"):
        data_plane(variant)
