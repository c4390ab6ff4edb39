"""OVN on two chassis: its options, what a chassis has before and after ovn-controller, and its state."""

from pathlib import Path
from unittest.mock import create_autospec

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import CATALOGUE, open_project
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.instance import OvsInstance
from nfvbed.dataplanes.ovs.overlay.hostplan import host_plans
from nfvbed.dataplanes.ovs.overlay.watch import HostView
from nfvbed.dataplanes.ovs.ovn_overlay import adapter
from nfvbed.dataplanes.ovs.ovn_overlay.host import ChassisHost
from nfvbed.dataplanes.ovs.ovn_overlay.options import OvnOverlayOptions
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.spec.layout import layout

PLAN = host_plans(layout("p2p"), 2)[0]
VIEW = HostView(
    name="h1",
    process="ovs-vswitchd-h1",
    netns="/run/netns/h1",
    unixctl="/run/h1/ctl",
    integration="/run/h1/br-int.mgmt",
    physical="/run/h1/br-phy.mgmt",
    rules=0,
    shares_core=True,
)


class Bridge:
    """A bridge with these ports; takes the place of a connection to one."""

    def __init__(self, *ports: int) -> None:
        self.numbers = ports

    def __call__(self, _: Path) -> "Bridge":
        return self

    def __enter__(self) -> "Bridge":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def rule_count(self) -> int:
        return 254

    def ports(self) -> dict[int, object]:
        return dict.fromkeys(self.numbers)


def options(**more: object) -> OvnOverlayOptions:
    return OvnOverlayOptions.model_validate({"dataplane": "ovn-overlay", **more})


def test_it_has_the_options_of_hosts_and_of_a_logical_path() -> None:
    found = options(acl="stateful", acl_rules=1000)
    assert (found.hosts, found.shares_core, found.tracks_connections, found.slow_to_deploy) == (2, True, True, True)
    assert options(release="3.5", hosts=1).release == "3.5"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"release": "4.0", "hosts": 1}, "has no OVN"),
        ({"release": "3.5"}, "for the DPDK of make setup"),
        ({"acl_rules": 5}, "acl: stateless or stateful"),
        ({"tunnel": "vxlan"}, "tunnel"),
    ],
)
def test_what_it_cannot_have_is_refused(asked: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        options(**asked)


def test_a_router_has_no_vnfs_behind_it() -> None:
    with pytest.raises(UnsupportedError, match="has VNFs"):
        options(path="router").check_layout(layout("pvp"))


def test_a_chassis_has_no_rules_and_no_tunnel_before_its_controller() -> None:
    database = create_autospec(SwitchDatabase, instance=True)
    instance = create_autospec(OvsInstance, instance=True)
    host = ChassisHost(PLAN, instance, "/run/netns/h1", options(), Path("/run/wire"))
    host.add_integration(database)
    host.find_other()
    database.add_bridge.assert_called_once_with("br-int", [])
    database.allow_openflow.assert_called_once_with("br-int", "OpenFlow15")
    assert instance.method_calls == []
    assert (host.add_rules(()), host.tenant_rules) == (0, 0)


def test_the_tunnels_port_is_the_one_that_is_no_port_of_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    own = list(PLAN.ports.values())
    monkeypatch.setattr(adapter, "BridgeController", Bridge(*own, 7, 0xFFFFFFFE))
    found = adapter._seen(VIEW, PLAN)
    assert (found.tunnel, found.rules) == (7, 254)


def test_a_chassis_without_a_tunnel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "BridgeController", Bridge(*PLAN.ports.values(), 0xFFFFFFFE))
    with pytest.raises(DeployError, match="h1 has no tunnel") as failure:
        adapter._seen(VIEW, PLAN)
    assert failure.value.fix == "see ovn-controller-h1.log in the run directory"
    alone = adapter._seen(VIEW.model_copy(update={"physical": ""}), PLAN)
    assert alone.rules == 254


def test_kolla_has_it_in_no_release() -> None:
    record = CATALOGUE.kolla_plane("ovn-overlay")
    assert all(not support.is_deployed and support.reason for support in record.releases.values())


def test_the_variant_is_read() -> None:
    assert isinstance(open_project().load_variant("ovn-geneve").options, OvnOverlayOptions)
