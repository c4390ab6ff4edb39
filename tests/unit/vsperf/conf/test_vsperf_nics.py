"""WHITELIST_NICS is the switch on NICs, and never on other NICs than these."""

from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.spec.site import LabSiteSpec
from nfvbed.vsperf.conf import select, study_of
from nfvbed.vsperf.conf.nics import require_cables
from tests.unit.vsperf.conf.conf_files import PROJECT, reported, settings_of

NICS = "WHITELIST_NICS = ['05:00.0', '0000:05:00.1']\n"


def chosen(folder: Path, text: str, test: str = "phy2phy_cont"):
    return select(settings_of(folder, n09_own=text), test, PROJECT)


@pytest.mark.parametrize(
    ("test", "variant", "queues"),
    [("phy2phy_cont", "ovs-dpdk-pci", "n_rxq"), ("pvp_cont", "ovs-dpdk-pci", "n_rxq")]
    + [("phy2phy_cont_vpp", "vpp-pci", "rx_queues")],
)
def test_nics_are_the_outer_ports_of_the_same_switch(tmp_path: Path, test: str, variant: str, queues: str):
    selection = chosen(tmp_path, NICS + "VSWITCH_DPDK_MULTI_QUEUES = 2\n", test)
    assert (selection.missing, selection.experiment["variants"]) == ((), [variant])
    assert selection.nics == ("0000:05:00.0", "0000:05:00.1")
    assert selection.variant_options[queues] == 2
    with pytest.raises(UnsupportedError, match="site lab has no cables to these NICs") as refused:
        study_of(selection, PROJECT)
    assert "0000:05:00.0, 0000:05:00.1; the site's cables lead to none" in refused.value.observed
    assert 'switch: "0000:05:00.0"' in refused.value.fix
    study = study_of(selection, PROJECT, {"variants": ["linux-bridge"]})
    assert [variant.name for variant in study.variants] == ["linux-bridge"], "it has no NICs of the switch"


def test_the_cables_of_the_site_have_to_be_those():
    site = LabSiteSpec.model_validate(
        {
            "name": "own",
            "kind": "lab",
            "cables": [
                {"switch": "0000:05:00.1", "generator": "0000:06:00.1"},
                {"switch": "0000:05:00.0", "generator": "0000:06:00.0"},
            ],
        }
    )
    require_cables(("0000:05:00.0", "0000:05:00.1"), site, "test a")
    with pytest.raises(UnsupportedError, match="no cables"):
        require_cables(("0000:05:00.0", "0000:07:00.0"), site, "test a")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("WHITELIST_NICS = ['05:00.0']", "two NICs"),
        ("WHITELIST_NICS = ['05:00.0|vf1', '05:00.1']", "virtual function"),
        (NICS + "VSWITCH = 'OvsVanilla'", "outer ports are virtual"),
        ("VSWITCH = 'VppDpdkVhost'\nVSWITCH_DPDK_MULTI_QUEUES = 2", "ports have one queue here"),
    ],
)
def test_what_such_ports_cannot_be_is_missing(tmp_path: Path, text: str, missing: str):
    selection = chosen(tmp_path, text)
    assert any(missing in one for one in (*selection.missing, *selection.advice)), selection


def test_virtual_ports_are_asked_for_by_an_empty_list(tmp_path: Path):
    selection = chosen(tmp_path, "WHITELIST_NICS = []")
    assert (selection.missing, selection.nics, selection.notes) == ((), (), ())
    with pytest.raises(ConfigurationError) as caught:
        chosen(tmp_path, "WHITELIST_NICS = ['eth0']")
    reported(caught.value, "09_own.conf:1", "eth0", "05:00.0")
