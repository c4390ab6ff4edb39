"""What the rooms of data planes say of VSPERF holds for the variants that they name."""

import dataclasses

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.dataplanes.vsperfswitch import FixedSetting, VsperfSwitch
from nfvbed.dataplanes.wiring import vnf_port_kind
from nfvbed.errors import InternalError
from nfvbed.records import VnfKind
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vsperf.conf import treatment
from nfvbed.vsperf.conf.testids import SWITCH_OF, TEST_IDS
from tests.unit.vsperf.conf.conf_files import PROJECT

VLOOP = PROJECT.load_vnf("vloop")
GUEST = VnfChoice(label="", vnf=VLOOP, kind=VnfKind.VM, forwarding="io", flavor=PROJECT.load_flavor(VLOOP.flavor))
EVERY = pytest.mark.parametrize("switch", CATALOGUE.vsperf, ids=lambda switch: switch.vswitch)


@EVERY
def test_its_variants_are_there_and_have_its_options(switch: VsperfSwitch):
    for name in filter(None, (switch.variant, switch.on_nics)):
        options = PROJECT.load_variant(name).options
        assert not switch.rx_queues or hasattr(options, switch.rx_queues)
        assert not switch.tags_frames or hasattr(options, "flows")


@EVERY
def test_its_variants_give_a_virtual_machine_its_kind_of_ports_unasked(switch: VsperfSwitch):
    for name in filter(None, (switch.variant, switch.on_nics)):
        assert vnf_port_kind(PROJECT.load_variant(name), GUEST) == switch.vnic


@EVERY
def test_its_tests_are_of_its_variant(switch: VsperfSwitch):
    assert all(TEST_IDS[test.id].variant == switch.variant for test in switch.tests)


def test_a_setting_of_several_switches_matters_in_tests_of_each():
    setting = treatment.SETTINGS["VSWITCH_FLOW_TIMEOUT"]
    assert setting.switches == {"OvsDpdkVhost", "OvsVanilla"}
    assert [name for name in SWITCH_OF if setting.matters_in((), name)] == ["OvsDpdkVhost", "OvsVanilla"]
    assert not setting.matters_in(treatment.Relevance, "none")


def test_two_rooms_do_not_say_two_things_of_one_setting(monkeypatch: pytest.MonkeyPatch):
    first, *others = CATALOGUE.vsperf
    (name, *_) = [one.name for one in first.fixed if one in others[0].fixed]
    odd = dataclasses.replace(others[0], fixed=(FixedSetting(name, "another reason"),))
    monkeypatch.setattr(CATALOGUE, "vsperf", (first, odd))
    with pytest.raises(InternalError, match=name):
        treatment._of_switches()
