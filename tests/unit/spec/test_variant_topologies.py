import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import VariantModel

SIMULATED = {"name": "a", "title": "A", "port_kind": "simulated", "options": {"dataplane": "simulated"}}


def test_a_lacking_topology_is_reported_with_its_reason():
    variant = VariantModel.model_validate(
        SIMULATED | {"topologies": ["pvp"], "not_applicable": {"p2p": "no switch between", "pvNp": "one VNF"}}
    )
    assert variant.lacks("pvp") == ""
    assert variant.lacks("p2p") == "variant a has no topology p2p: no switch between"
    assert variant.lacks("pv3p").endswith("one VNF")
    assert variant.lacks("pvpv") == "variant a has no topology pvpv; it has pvp"


def test_a_variant_with_vnfs_side_by_side_has_two_four_and_eight():
    variant = VariantModel.model_validate(SIMULATED | {"topologies": ["pvpv"]})
    assert [variant.lacks(name) for name in ("pvpv", "pvpv4", "pvpv8")] == ["", "", ""]
    with_reason = SIMULATED | {"topologies": ["pvp"], "not_applicable": {"pvpv": "shares no flows out"}}
    assert VariantModel.model_validate(with_reason).lacks("pvpv4").endswith("shares no flows out")
    assert "no topology pvpv6" in variant.lacks("pvpv6")


def test_a_reason_for_what_it_has_is_refused():
    with pytest.raises(ValidationError, match="among topologies"):
        VariantModel.model_validate(SIMULATED | {"topologies": ["p2p"], "not_applicable": {"p2p": "why"}})
