"""OVN's logical topology as commands of ovn-nbctl, its options, and what OVN says of itself."""

import subprocess
from pathlib import Path
from unittest.mock import create_autospec

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import CATALOGUE, open_project
from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.dataplanes.ovs.ovn import topology
from nfvbed.dataplanes.ovs.ovn.adapter import Ovn
from nfvbed.dataplanes.ovs.ovn.binaries import OvnBinaries, beside
from nfvbed.dataplanes.ovs.ovn.options import OvnAfxdpOptions, OvnKernelOptions, OvnOptions
from nfvbed.dataplanes.ports.vhost_user import MACS
from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.records import PortKind
from nfvbed.spec.layout import layout

PROJECT = open_project()
VERSION = "ovn-controller 23.03.1\nOpen vSwitch Library 3.1.0\nOpenFlow versions 0x6:0x6\nSB DB Schema 20.27.0\n"
"""Debian 12's."""


def commands(name: str, **options: object) -> list[tuple[str, ...]]:
    return list(topology.commands(layout(name), OvnOptions(dataplane="ovn", **options), MACS))


def test_a_cable_is_a_logical_switch_with_two_ports() -> None:
    assert commands("pvp") == [
        ("ls-add", "ls0"),
        ("lsp-add", "ls0", "p0"),
        ("lsp-set-addresses", "p0", "unknown"),
        ("lsp-add", "ls0", "v1a"),
        ("lsp-set-addresses", "v1a", "unknown"),
        ("ls-add", "ls1"),
        ("lsp-add", "ls1", "v1b"),
        ("lsp-set-addresses", "v1b", "unknown"),
        ("lsp-add", "ls1", "p1"),
        ("lsp-set-addresses", "p1", "unknown"),
    ]


def test_a_router_has_a_route_to_each_of_the_generators_networks() -> None:
    found = commands("p2p", path="router")
    assert ("lsp-set-addresses", "p1", "02:4e:46:56:00:02 10.255.1.2") in found
    assert [command[2:] for command in found if command[0] == "lr-route-add"] == [
        ("198.18.0.0/16", "10.255.0.2"),
        ("198.19.0.0/16", "10.255.1.2"),
    ]


def acls(name: str, **options: object) -> list[topology.Acl]:
    return list(topology.acls(layout(name), OvnOptions(dataplane="ovn", **options)))


@pytest.mark.parametrize(("acl", "action"), [("stateless", "allow-stateless"), ("stateful", "allow-related")])
def test_only_the_last_acl_matches_the_traffic_and_the_rest_is_dropped(acl: str, action: str) -> None:
    found = acls("p2p", acl=acl, acl_rules=3)
    assert found[:4] == [
        topology.Acl("ls0", 30_000, 'inport == "p0" && udp && ip4.src == 203.0.0.0', action),
        topology.Acl("ls0", 29_999, 'inport == "p0" && udp && ip4.src == 203.0.0.1', action),
        topology.Acl("ls0", 29_998, 'inport == "p0" && udp', action),
        topology.Acl("ls0", 1, 'inport == "p0" && ip4', "drop"),
    ]
    assert len(found) == 8
    assert acls("p2p") == []


@pytest.mark.parametrize("count", [2, 10_000, 29_998, 29_999, 100_000])
def test_priorities_stay_within_ovns_and_fall_to_the_last(count: int) -> None:
    of_one = [acl for acl in acls("p2p", acl="stateful", acl_rules=count) if '"p0"' in acl.match]
    priorities = [acl.priority for acl in of_one]
    assert len(of_one) == count + 1 and priorities == sorted(priorities, reverse=True)
    assert priorities[0] == 30_000 and priorities[-1] == 1
    assert 1 < priorities[-2] < priorities[-3], "the one that matches is alone below the others"
    assert len({acl.match for acl in of_one}) == count + 1


def test_acls_are_rows_that_their_switches_refer_to() -> None:
    rows = [topology.Acl("ls0", 5, "udp", "allow"), topology.Acl("ls1", 1, "ip4", "drop")]
    first, second, *mutations = topology.insertions(rows)
    assert first == {
        "op": "insert",
        "table": "ACL",
        "row": {"priority": 5, "match": "udp", "action": "allow", "direction": "from-lport"},
        "uuid-name": "acl0",
    }
    assert second["uuid-name"] == "acl1"
    assert [(one["where"], one["mutations"]) for one in mutations] == [
        ([["name", "==", "ls0"]], [["acls", "insert", ["set", [["named-uuid", "acl0"]]]]]),
        ([["name", "==", "ls1"]], [["acls", "insert", ["set", [["named-uuid", "acl1"]]]]]),
    ]


def test_several_commands_are_one_transaction() -> None:
    assert topology.nbctl_arguments([("ls-add", "a"), ("lsp-add", "a", "p0")]) == [
        *("ls-add", "a"),
        *("--", "lsp-add", "a", "p0"),
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"flows": "normal"}, "options of ovs-dpdk"),
        ({"steering": "onos"}, "options of ovs-dpdk"),
        ({"port_type": "memif"}, "is vhost-user"),
        ({"acl_rules": 5}, "acl: stateless or stateful"),
    ],
)
def test_what_is_not_ovns_is_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        OvnOptions.model_validate({"dataplane": "ovn", **options})


def test_paths_that_it_cannot_have_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="has VNFs"):
        PROJECT.load_variant("ovn-router").options.check_layout(layout("pvp"))
    with pytest.raises(UnsupportedError, match="shares the flows"):
        PROJECT.load_variant("ovn").options.check_layout(layout("pvpv"))


def test_sessions_are_mirrored_where_connections_are_tracked() -> None:
    tracking = [
        name
        for name in PROJECT.variant_names
        if name.startswith("ovn") and PROJECT.load_variant(name).options.tracks_connections
    ]
    assert tracking == ["ovn-acl-stateful"]


@pytest.mark.parametrize("name", ["ovn", "ovn-afxdp"])
def test_no_release_of_kolla_deploys_it(name: str) -> None:
    record = CATALOGUE.kolla_plane(name)
    assert all(not support.is_deployed and support.reason for support in record.releases.values())
    assert set(record.releases) == {"2026.1", "ocata"}


def test_the_version_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = subprocess.CompletedProcess([], 0, VERSION, "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    assert OvnBinaries(OvsBinaries(tmp_path), tmp_path / "usr").version() == "23.03.1"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="OVN is not there") as failure:
        beside(OvsBinaries(tmp_path))
    assert failure.value.fix.startswith("make setup; of a release, make releases")


@pytest.mark.parametrize("prefix", ["usr", ".", "usr/local"])
def test_a_build_is_found_beside_its_open_vswitch(tmp_path: Path, prefix: str) -> None:
    found = OvnBinaries(OvsBinaries(tmp_path), tmp_path / prefix)
    for path in found.files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert beside(OvsBinaries(tmp_path)) == found
    assert found.command(found.northd) == (str(tmp_path / prefix / "bin/ovn-northd"),)


def test_on_af_xdp_it_has_the_options_of_both() -> None:
    options = OvnAfxdpOptions(dataplane="ovn-afxdp", acl="stateful", core_use="threaded-napi", release="3.5")
    assert options.tracks_connections and options.io_path(PortKind.VETH) == "af_xdp"
    with pytest.raises(ValidationError, match="the rules are OVN's"):
        OvnAfxdpOptions(dataplane="ovn-afxdp", flows="normal")
    with pytest.raises(UnsupportedError, match="shares the flows"):
        options.check_layout(layout("pvpv"))


def test_in_the_kernel_it_has_the_options_of_both_but_no_connections() -> None:
    options = OvnKernelOptions(dataplane="ovn-kernel", acl="stateless", offloads=False, max_idle_ms=500)
    assert options.port_kinds == (PortKind.VETH,) and not options.tracks_connections
    with pytest.raises(ValidationError, match="connection table is not read"):
        OvnKernelOptions(dataplane="ovn-kernel", acl="stateful")
    with pytest.raises(UnsupportedError, match="shares the flows"):
        options.check_layout(layout("pvpv"))


@pytest.mark.parametrize("name", ["ovn", "ovn-afxdp", "ovn-kernel"])
def test_only_the_kernels_cached_flows_outlive_the_process(name: str) -> None:
    found = CATALOGUE.quirks(PROJECT.load_variant(name))
    assert (found.process, found.flows_outlive_process) == ("ovs-vswitchd", name == "ovn-kernel")


@pytest.mark.parametrize(("name", "macs"), [("ovn-router", topology.ROUTER_MACS), ("ovn", None)])
def test_frames_to_a_router_are_sent_to_its_ports(name: str, macs: tuple[str, ...] | None) -> None:
    request = create_autospec(DeployRequest, instance=True, variant=PROJECT.load_variant(name), layout=layout("p2p"))
    assert Ovn().ends(request).destination_macs == macs
