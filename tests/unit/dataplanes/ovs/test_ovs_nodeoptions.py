"""Options of Open vSwitch's userspace datapath in a cloud: what reaches its switch, and what is refused by name."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs import nodeoptions
from nfvbed.dataplanes.ovs.afxdp import compute as ovs_afxdp
from nfvbed.dataplanes.ovs.dpdk import compute as ovs_dpdk
from nfvbed.errors import UnsupportedError

DPDK, AFXDP, INTERRUPT = (open_project().load_variant(n) for n in ("ovs-dpdk", "ovs-afxdp", "ovs-afxdp-interrupt"))


def with_options(variant, **values):
    options = type(variant.options).model_validate(variant.options.model_dump(exclude_unset=True) | values)
    return variant.model_copy(update={"options": options})


@pytest.mark.parametrize(
    ("variant", "check"),
    [(DPDK, ovs_dpdk.check_options), (AFXDP, ovs_afxdp.check_options), (INTERRUPT, ovs_afxdp.check_options)],
)
def test_variants_as_shipped_reach_the_switch(variant, check):
    check(variant)
    assert nodeoptions.settings(variant.options, (0,)) == {"pmd-cpu-mask": "0x1"}


def test_options_become_settings_that_a_later_variant_takes_back():
    options = with_options(DPDK, smc=True, emc=False, rxq_assignment="group", flow_limit=5000).options
    found = nodeoptions.settings(options, (0, 2))
    assert found == {
        "pmd-cpu-mask": "0x5",
        "smc-enable": "true",
        "emc-insert-inv-prob": "0",
        "pmd-rxq-assign": "group",
        "flow-limit": "5000",
    }
    assert set(found) - {"pmd-cpu-mask"} <= set(nodeoptions.MANAGED)


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
def test_what_does_not_reach_a_switch_with_dpdk_is_refused_by_name(key, value):
    _is_refused(ovs_dpdk.check_options, with_options(DPDK, **{key: value}), key)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("vnf_ports", "vhost-user"),
        ("n_rxq", 2),
        ("steering", "controller"),
        ("socket_memory_mib", 512),
        ("rx_queue_size", 512),
        ("rxq_affinity", {"p0": (0,)}),
        ("mac_table_size", 100),
        ("flows", "port-to-port"),
    ],
)
def test_what_does_not_reach_a_switch_on_afxdp_is_refused_by_name(key, value):
    _is_refused(ovs_afxdp.check_options, with_options(AFXDP, **{key: value}), key)


@pytest.mark.parametrize(
    "values", [{"xdp_mode": "native"}, {"need_wakeup": False}, {"core_use": "threaded-napi"}, {"pmd_maxsleep_us": 50}]
)
def test_options_of_afxdp_ports_and_of_their_threads_are_taken(values):
    ovs_afxdp.check_options(with_options(AFXDP, **values))


def _is_refused(check, variant, key):
    with pytest.raises(UnsupportedError) as caught:
        check(variant)
    assert caught.value.where == f"options.{key}"
    assert f"{key}:" in caught.value.fix
