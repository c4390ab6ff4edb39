"""Machines of one VNF on two computes of a rack of doubles: onboarded, measured, looked at, and refused."""

import base64
import io
import json
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest
import yaml

from nfvbed.cli.main import main
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.errors import OnboardError
from nfvbed.records import Accelerator, VnfHandle
from nfvbed.records.state import ON_COMPUTE
from nfvbed.sites.kolla.measured import accelerators
from nfvbed.sites.kolla.measured.cloud import RackCloud
from nfvbed.sites.openstack import tackervnfs
from tests.unit.sites.kolla.rack_doubles import install, make_root

AT = ("--site", "mine")
ZONES = {"compute1": "nfvbed-on-compute1", "compute2": "nfvbed-on-compute2"}


def said(capsys, *words):
    status = main(list(words))
    out = capsys.readouterr()
    return status, " ".join((out.out + out.err).split())


def base_hot(request):
    """Return the base HOT of a request's package."""
    with zipfile.ZipFile(io.BytesIO(request.descriptor)) as sent:
        (name,) = [one for one in sent.namelist() if "BaseHOT" in one and one.endswith(".yaml")]
        return yaml.safe_load(sent.read(name))["resources"]


class TwoComputes:
    """Stands for Tacker, Heat and Nova: what the package says of zones and networks is what becomes of it."""

    def __init__(self, rack, moved=()):
        self.rack, self.moved, self.user_data = rack, dict(moved), {}

    def onboard(self, request, tell):
        self.rack.requests.append(request)
        resources, placed = base_hot(request), []
        servers = {name: one["properties"] for name, one in resources.items() if one["type"] == "OS::Nova::Server"}
        networks = dict(request.networks)
        for number, (name, server) in enumerate(reversed(servers.items())):
            points = [one["port"]["get_resource"] for one in server["networks"]]
            ports = tuple(
                InstancePort(f"port-{name}-{point}", networks[point], f"fa:16:3e:00:{number:02x}:{place:02x}")
                for place, point in enumerate(points)
            )
            zone = server.get("availability_zone", ZONES["compute1"])
            host = self.moved.get(name) or next(compute for compute, one in ZONES.items() if one == zone)
            placed.append(PlacedInstance(f"i-{name}", f"server-{name}", host, ports))
            self.user_data[f"i-{name}"] = server["user_data"]
        vnf = TackerVnf("sol", "v-1", "p-1", request.name, request.owner, "s-1", tuple(placed), (("create", 5),))
        self.rack.onboarded[vnf.id] = vnf
        return vnf

    def get_server(self, identifier):
        return SimpleNamespace(user_data=base64.b64encode(self.user_data[identifier].encode()).decode())


def zones(cloud, variant):
    return {one: ZONES[one] for one in cloud.computes_of(variant)}


def doubles(monkeypatch, root, **moved):
    monkeypatch.setenv("NFVBED_ROOT", str(root))
    rack = install(monkeypatch, root)
    clouds = TwoComputes(rack, moved)
    rack.made = []
    monkeypatch.setattr(tackervnfs.TackerVnfs, "_api", SimpleNamespace(onboard=clouds.onboard, found=rack.found))
    compute = SimpleNamespace(find_server=rack.server, get_server=clouds.get_server)
    monkeypatch.setattr(RackCloud, "connection", SimpleNamespace(compute=compute))
    monkeypatch.setattr(
        RackCloud, "zones", lambda self, variant: {one: ZONES[one] for one in self.computes_of(variant)}
    )
    monkeypatch.setattr(RackCloud, "provide_tunnels", lambda self, variant, names: rack.made.extend(names))
    return rack


@pytest.fixture(name="rack")
def _rack(tmp_path, monkeypatch):
    make_root(tmp_path)
    return doubles(monkeypatch, tmp_path)


def test_each_machine_is_asked_for_in_its_computes_zone_and_on_the_networks_of_the_path(rack, capsys):
    status, out = said(capsys, "onboard", "vpair", *AT)
    assert status == 0, out
    (request,) = rack.requests
    assert request.networks == (
        ("west_left", "nfvbed-left"),
        ("west_across", "nfvbed-link1"),
        ("east_across", "nfvbed-link1"),
        ("east_right", "nfvbed-right"),
    )
    resources = base_hot(request)
    assert [resources[name]["properties"]["availability_zone"] for name in ("west", "east")] == list(ZONES.values())
    assert resources["PG_apart"]["properties"]["policies"] == ["anti-affinity"]
    for name in ("west", "east"):
        words = resources[name]["properties"]["user_data"].split()
        assert {f"vnf.machine={name}", "vloop.forward=io"} <= set(words)
    assert not rack.made, "no tunnel is needed"


def test_frames_are_measured_through_both_and_both_are_removed(rack, capsys):
    assert said(capsys, "onboard", "vpair", *AT)[0] == 0
    status, out = said(capsys, "run", "pvp", *AT, "--no-doctor", "--repetitions", "1")
    assert status == 0, out
    assert "vpair" in out and len(rack.requests) == 1, "what is onboarded is measured"
    status, out = said(capsys, "verify", *AT)
    assert status == 0 and "frames came through the instances that run" in out
    assert said(capsys, "offboard", *AT)[0] == 0
    assert rack.removed == ["vnf1"]


def test_the_record_has_both_instances_and_the_ends_of_the_path(rack, capsys):
    assert main(["onboard", "vpair", *AT, "--json"]) == 0
    (handle,) = json.loads(capsys.readouterr().out)["vnfs"]
    control = handle["control"]
    assert (control["machine"], control["instance"], control["host"]) == ("west", "i-west", "compute1")
    (east,) = control["behind"]
    assert (east["machine"], east["instance"], east["host"]) == ("east", "i-east", "compute2")
    assert [port["address"] for port in handle["ports"]] == [
        "neutron:port-west-west_left",
        "neutron:port-east-east_right",
    ]


def test_a_tunnel_is_made_when_it_is_needed_and_takes_no_longer_frames(rack, capsys):
    status, out = said(capsys, "onboard", "vpair-tunnel", *AT)
    assert status == 0, out
    assert rack.made == ["nfvbed-tunnel1"]
    assert dict(rack.requests[0].networks)["east_across"] == "nfvbed-tunnel1"
    status, out = said(capsys, "run", "pvp", *AT, "--no-doctor")
    assert status == 11 and "frames of 1518 bytes do not pass" in out and "1468 bytes at most" in out
    assert said(capsys, "run", "pvp", *AT, "--no-doctor", "--repetitions", "1", "--frame-size", "64")[0] == 0


def test_an_instance_that_ended_is_found_whichever_it_is(rack, capsys):
    assert said(capsys, "onboard", "vpair", *AT)[0] == 0
    (vnf,) = rack.onboarded.values()
    gone = [one for one in vnf.instances if one.id != "i-east"]
    rack.onboarded["v-1"] = replace(vnf, instances=tuple(gone))
    status, out = said(capsys, "heal", *AT)
    assert status == 11 and "a VNF of several machines is not healed" in out and "nfvbed onboard vpair" in out


def test_a_guest_that_was_moved_since_is_found_by_the_next_command(rack, capsys):
    assert said(capsys, "onboard", "vpair", *AT)[0] == 0
    (vnf,) = rack.onboarded.values()
    moved = tuple(replace(one, host="compute1") for one in vnf.instances)
    rack.onboarded["v-1"] = replace(vnf, instances=moved)
    status, out = said(capsys, "verify", *AT)
    assert status == 20 and "vnf1 (east) is on another compute than when it was onboarded" in out, out
    assert "it was on compute2, and is on compute1" in out


def test_where_computes_get_no_zones_the_group_holds_all_the_same(tmp_path, monkeypatch, capsys):
    """As on a rack on which others have instances: Nova changes no zone of theirs."""

    def refused(cloud, variant):
        raise OnboardError("compute compute1 cannot be given an availability zone of its own", observed="instances")

    make_root(tmp_path)
    for moved, code in (({"east": "compute2"}, 0), ({}, 21)):
        rack = doubles(monkeypatch, tmp_path, **moved)
        monkeypatch.setattr(RackCloud, "zones", refused)
        status, out = said(capsys, "onboard", "vpair", *AT)
        assert status == code, out
        assert not any("availability_zone" in one["properties"] for one in base_hot(rack.requests[0]).values())
        assert base_hot(rack.requests[0])["PG_apart"]["properties"]["policies"] == ["anti-affinity"]
        said(capsys, "offboard", *AT)
    assert "group apart of VNF vpair is not placed as it says" in out


@pytest.mark.parametrize(
    ("moved", "what"),
    [({"east": "compute1"}, "machine east of VNF vpair is on another compute"), ({"west": "compute9"}, "machine west")],
)
def test_a_machine_on_another_compute_is_refused_and_removed(tmp_path, monkeypatch, capsys, moved, what):
    make_root(tmp_path)
    rack = doubles(monkeypatch, tmp_path, **moved)
    status, out = said(capsys, "onboard", "vpair", *AT)
    assert status == 21 and what in out and "asked for: compute" in out
    assert rack.removed == ["vnf1"]


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("vpair", "--topology", "pvvp"), 11, "topology pvvp has no VNF of several machines"),
        (("vpair", "--flavor", "hugepages"), 2, "flavor: of its machines (west, east)"),
        (("vpair", "--kind", "process"), 2, "VNF vpair is of no kind process"),
    ],
)
def test_what_a_row_cannot_be_is_refused_before_anything_is_asked(rack, capsys, words, code, what):
    status, out = said(capsys, "onboard", *words, *AT)
    assert status == code and what in out, out
    assert not rack.requests


def test_computes_with_different_variants_are_too_few(tmp_path, monkeypatch, capsys):
    make_root(tmp_path, pins={"compute1": "ovs-dpdk", "compute2": "ovs-kernel"})
    rack = doubles(monkeypatch, tmp_path)
    for more, code in (((), 11), (("--dry-run",), 11), (("--check",), 10)):
        status, out = said(capsys, "onboard", "vpair", *AT, "--variant", "ovs-dpdk", *more)
        assert status == code and "group apart of VNF vpair cannot be placed: it takes 2 computes" in out, out
        assert "computes with this variant: compute1" in out
    assert not rack.requests


def test_a_tunnel_on_a_data_plane_without_any(tmp_path, monkeypatch, capsys):
    make_root(tmp_path, variant="macvtap")
    doubles(monkeypatch, tmp_path)
    status, out = said(capsys, "onboard", "vpair-tunnel", *AT)
    assert status == 11 and "has no network tunnel1" in out
    status, out = said(capsys, "onboard", "vpair", *AT)
    assert status == 11 and "topology pv2p has no path there" in out, "as chains, on macvtap"


def test_on_this_machine_there_are_no_two_computes(capsys):
    status, out = said(capsys, "onboard", "vpair", "--variant", "ovs-dpdk", "--kind", "vm", "--dry-run")
    assert status == 11 and "a VNF of several machines does not run on site lab" in out


def test_the_accelerator_of_every_guest_is_asked_for_on_its_own_compute(rack, monkeypatch, capsys):
    assert main(["onboard", "vpair", *AT, "--json"]) == 0
    handle = VnfHandle.model_validate_json(json.dumps(json.loads(capsys.readouterr().out)["vnfs"][0]))
    answers = {"i-west": Accelerator.TCG, "i-east": Accelerator.TCG}
    asked = []

    def of_guest(site, compute, instance):
        asked.append((compute, instance))
        return answers[instance]

    monkeypatch.setattr(accelerators, "of_guest", of_guest)
    cloud = SimpleNamespace(rack=SimpleNamespace(site=None))
    found = RackCloud._on_compute(cloud, handle)
    assert (found.facts[ON_COMPUTE], found.accelerator) == ("compute1, compute2", Accelerator.TCG)
    assert asked == [("compute1", "i-west"), ("compute2", "i-east")]
    answers["i-east"] = Accelerator.KVM
    assert RackCloud._on_compute(cloud, handle).accelerator is Accelerator.NONE, "they differ"
