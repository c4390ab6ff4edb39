"""Flavors that an experiment alone has are made in Nova once; another one of the same name is refused."""

from types import SimpleNamespace

import pytest

from nfvbed.cloud.tacker import ownflavors
from nfvbed.errors import OnboardError
from nfvbed.spec.flavor import Flavor

FLAVOR = Flavor(name="own", title="Own", vcpus=4, memory_mib=2048, hugepages=True, cpu_policy="dedicated", queues=4)
SPECS = {"hw:cpu_policy": "dedicated", "hw:mem_page_size": "2048", "hw:vif_multiqueue_enabled": "true"}


class Nova:
    """Stands for openstacksdk's connection: it remembers flavors."""

    def __init__(self):
        self.compute = self
        self.known = {}

    def find_flavor(self, name, *, ignore_missing, get_extra_specs):
        assert ignore_missing and get_extra_specs
        return self.known.get(name)

    def create_flavor(self, **keys):
        self.known[keys["name"]] = SimpleNamespace(extra_specs={}, **keys)
        return self.known[keys["name"]]

    def create_flavor_extra_specs(self, flavor, specs):
        flavor.extra_specs.update(specs)


def test_a_flavor_is_made_once_with_its_extra_specs():
    nova = Nova()
    for _ in range(2):
        ownflavors.provide(nova, FLAVOR, {"aggregate_instance_extra_specs:a": "yes"})
    (made,) = nova.known.values()
    assert (made.name, made.vcpus, made.ram) == ("nfvbed.own", 4, 2048)
    assert made.extra_specs == SPECS | {"aggregate_instance_extra_specs:a": "yes"}


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"ram": 1024}, "ram=1024 (not 2048)"),
        ({"extra_specs": {**SPECS, "hw:cpu_policy": "shared"}}, "hw:cpu_policy=shared (not dedicated)"),
        ({"extra_specs": {**SPECS, "hw:numa_nodes": "2"}}, "hw:numa_nodes=2 (not None)"),
        ({"extra_specs": {}}, "hw:vif_multiqueue_enabled=None (not true)"),
    ],
)
def test_another_one_of_the_same_name_is_refused(change, seen):
    nova = Nova()
    ownflavors.provide(nova, FLAVOR)
    vars(nova.known["nfvbed.own"]).update(change)
    with pytest.raises(OnboardError, match="another flavor nfvbed.own") as refused:
        ownflavors.provide(nova, FLAVOR)
    assert seen in refused.value.observed
    assert "openstack flavor delete nfvbed.own" in refused.value.fix
