"""Which driver runs which VNF in the lab."""

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.vnfs.catalogue import driver


@pytest.mark.parametrize("does", GATEWAYS)
def test_a_mobile_core_of_virtual_machines_is_for_a_cloud(does):
    with pytest.raises(UnsupportedError, match=f"no VNF of kind vm can do '{does}' in the lab") as failure:
        driver(VnfKind.VM, does)
    assert "a site that is an OpenStack" in failure.value.fix


@pytest.mark.parametrize(("kind", "does"), [("process", "nextepc"), ("container", "bridge"), ("vm", "io")])
def test_what_the_lab_can_run_has_a_driver(kind, does):
    assert driver(VnfKind(kind), does) is not None


def test_what_runs_already_is_not_the_labs():
    with pytest.raises(UnsupportedError):
        driver(VnfKind.EXISTING, "io")
