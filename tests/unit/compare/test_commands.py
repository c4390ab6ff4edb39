"""The setting of an experiment that has a VNF as another run had it."""

import pytest

from nfvbed.compare.commands import vnf_setting
from nfvbed.spec.vnf import VnfUse


@pytest.mark.parametrize(
    ("use", "rig", "setting"),
    [
        ({}, {}, "vnfs=[{vnf: vepc, kind: process, forwarding: nextepc}]"),
        (
            {"pcrf": "stand-in", "bearers": 50},
            {"pcrf": "stand-in", "bearers": 50},
            "vnfs=[{vnf: vepc, kind: process, forwarding: nextepc, bearers: 50, pcrf: stand-in}]",
        ),
        ({"pcrf": "stand-in"}, {"bearers": 16}, ""),
    ],
    ids=["plain", "stand-in", "another"],
)
def test_a_mobile_core_is_asked_for_as_it_was(use: dict[str, object], rig: dict[str, object], setting: str) -> None:
    label = VnfUse.model_validate({"vnf": "vepc", "forwarding": "nextepc", **use}).label
    described = {"name": "vepc", "kind": "process", "forwarding": "nextepc", "gateway": "nextepc", **rig}
    assert vnf_setting(label, described) == setting
