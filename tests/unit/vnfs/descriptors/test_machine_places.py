"""Placement groups on computes: spread the same way each time, refused where there are too few, and looked at after."""

import pytest

from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.spec.machines import PlacementSpec
from nfvbed.vnfs.descriptors.machines.placing import require_placed, spread

PAIR = PlacementSpec(name="apart", policy="anti-affinity", machines=("west", "east"))
CORE = PlacementSpec(name="core", machines=("mme", "sgw"))
EDGE = PlacementSpec(name="edge", machines=("igw",), apart_from=("core",))


@pytest.mark.parametrize(
    ("groups", "wanted"),
    [
        ((PAIR,), {"west": "c1", "east": "c2"}),
        ((CORE, EDGE), {"mme": "c1", "sgw": "c1", "igw": "c2"}),
        ((EDGE, CORE), {"igw": "c1", "mme": "c2", "sgw": "c2"}),
        ((), {}),
    ],
)
def test_each_machine_has_a_compute(groups, wanted):
    assert spread(groups, ("c1", "c2", "c3"), "v") == wanted


@pytest.mark.parametrize("groups", [(PAIR,), (CORE, EDGE)])
def test_one_compute_is_too_few(groups):
    with pytest.raises(UnsupportedError, match="cannot be placed") as error:
        spread(groups, ("c1",), "v")
    assert "c1" in error.value.observed and "rack" in error.value.fix


def test_instances_are_where_they_were_asked_for():
    require_placed((PAIR,), {"west": "c1", "east": "c2"}, {"west": "c1", "east": "c2"}, "v")
    require_placed((PAIR,), {}, {"west": "", "east": ""}, "v")  # an ordinary project is shown no computes
    with pytest.raises(OnboardError, match="machine east of VNF v is on another compute"):
        require_placed((PAIR,), {"west": "c1", "east": "c2"}, {"west": "c1", "east": "c3"}, "v")


@pytest.mark.parametrize(
    ("groups", "hosts"),
    [
        ((PAIR,), {"west": "c1", "east": "c1"}),
        ((CORE,), {"mme": "c1", "sgw": "c2"}),
        ((CORE, EDGE), {"mme": "c1", "sgw": "c1", "igw": "c1"}),
    ],
)
def test_what_nova_placed_otherwise_than_the_groups_say(groups, hosts):
    with pytest.raises(OnboardError, match="is not placed as it says"):
        require_placed(groups, {}, hosts, "v")
