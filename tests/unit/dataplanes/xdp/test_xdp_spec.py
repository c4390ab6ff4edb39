"""What files may say of the data plane xdp and of its tasks."""

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.xdp.options import XdpOptions
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.testkinds.cost import XdpTasksTest
from nfvbed.spec.vnf import VnfChoice

PROJECT = open_project()
VLOOP = PROJECT.load_vnf("vloop")


def choice(kind):
    flavor = PROJECT.load_flavor(VLOOP.flavor)
    return VnfChoice(label="test", vnf=VLOOP, kind=kind, forwarding="xdp", flavor=flavor)


def test_a_native_program_runs_before_rps():
    assert XdpOptions(dataplane="xdp", mode="generic", core_use="rps").switch_cores == 1
    with pytest.raises(ValidationError, match="before RPS"):
        XdpOptions(dataplane="xdp", core_use="rps")


def test_vnfs_get_veth_ports_or_a_reason():
    options = XdpOptions(dataplane="xdp")
    assert options.vnf_port_kind(choice(VnfKind.CONTAINER)) is PortKind.VETH
    for kind in (VnfKind.VM, VnfKind.EXISTING):
        with pytest.raises(UnsupportedError) as caught:
            options.vnf_port_kind(choice(kind))
        assert caught.value.fix


def test_tasks_are_named_once():
    assert XdpTasksTest(kind="xdp-tasks").expected() == (20.0, 20)
    assert XdpTasksTest(kind="xdp-tasks", tasks=("drop",), trials=2, duration_s=0.5).expected() == (1.0, 2)
    with pytest.raises(ValidationError, match="no task twice"):
        XdpTasksTest(kind="xdp-tasks", tasks=("drop", "drop"))
