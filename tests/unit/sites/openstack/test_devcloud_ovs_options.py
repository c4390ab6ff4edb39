"""Options of Open vSwitch with DPDK in a cloud: what reaches its switch, and what is refused by name."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError
from nfvbed.sites.openstack.computes import ovs_options

VARIANT = open_project().load_variant("ovs-dpdk")


def with_options(**values):
    options = type(VARIANT.options).model_validate(VARIANT.options.model_dump(exclude_unset=True) | values)
    return VARIANT.model_copy(update={"options": options})


def test_the_variant_as_shipped_reaches_the_switch():
    ovs_options.check(VARIANT)
    assert ovs_options.settings(ovs_options.ovs_options(VARIANT), (0,)) == {"pmd-cpu-mask": "0x1"}


def test_options_become_settings_that_a_later_variant_takes_back():
    options = ovs_options.ovs_options(with_options(smc=True, emc=False, rxq_assignment="group", flow_limit=5000))
    found = ovs_options.settings(options, (0, 2))
    assert found == {
        "pmd-cpu-mask": "0x5",
        "smc-enable": "true",
        "emc-insert-inv-prob": "0",
        "pmd-rxq-assign": "group",
        "flow-limit": "5000",
    }
    assert set(found) - {"pmd-cpu-mask"} <= set(ovs_options.MANAGED)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("port_type", "memif"),
        ("steering", "controller"),
        ("socket_memory_mib", 512),
        ("rx_queue_size", 512),
        ("rxq_affinity", {"p0": (0,)}),
        ("mac_table_size", 100),
        ("flows", "port-to-port"),
    ],
)
def test_what_does_not_reach_it_is_refused_by_name(key, value):
    with pytest.raises(UnsupportedError) as caught:
        ovs_options.check(with_options(**{key: value}))
    assert caught.value.where == f"options.{key}"
    assert f"{key}:" in caught.value.fix
