"""Which VNFs and paths each mode of macvtap takes, and why not the others."""

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.macvtap.options import MacvtapOptions
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import VnfChoice

PROJECT = open_project()
VLOOP = PROJECT.load_vnf("vloop")
MODES = ("bridge", "private", "vepa", "passthru")


def choice(forwarding="mac", kind=VnfKind.PROCESS, vnic="any"):
    flavor = PROJECT.load_flavor(VLOOP.flavor)
    return VnfChoice(label="", vnf=VLOOP, kind=kind, forwarding=forwarding, flavor=flavor, vnic=vnic)


def options(mode, **more):
    return MacvtapOptions(dataplane="macvtap", mode=mode, **more)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [VnfKind.PROCESS, VnfKind.CONTAINER, VnfKind.VM])
def test_every_vnf_has_a_device_on_a_link(mode, kind):
    assert options(mode).vnf_port_kind(choice(kind=kind)) is PortKind.MACVTAP


@pytest.mark.parametrize(
    ("mode", "more", "words"),
    [
        ("bridge", {"forwarding": "bridge"}, "gets no frames to pass on"),
        ("vepa", {"forwarding": "bridge", "kind": VnfKind.VM}, "gets no frames to pass on"),
        ("passthru", {"forwarding": "xdp"}, "redirects by XDP"),
        ("bridge", {"vnic": "tap", "kind": VnfKind.VM}, "kind 'tap'"),
        ("bridge", {"vnic": "e1000"}, "kind 'e1000'"),
        ("bridge", {"kind": VnfKind.EXISTING}, "runs already"),
    ],
)
def test_vnfs_that_cannot_be_on_a_link(mode, more, words):
    with pytest.raises(UnsupportedError, match=words) as caught:
        options(mode).vnf_port_kind(choice(**more))
    assert caught.value.observed
    assert caught.value.fix


def test_a_bridge_is_a_vnf_where_a_device_has_all_frames():
    assert options("passthru").vnf_port_kind(choice("bridge")) is PortKind.MACVTAP


@pytest.mark.parametrize(
    ("mode", "topology", "forwarding", "words"),
    [
        ("bridge", "p2p", "mac", "no topology p2p"),
        ("bridge", "v2v", "mac", "no topology v2v"),
        ("private", "pvvp", "mac", "cannot reach each other"),
        ("private", "pv3p", "router", "cannot reach each other"),
        ("passthru", "pvpv", "router", "cannot share a link"),
        *[(mode, "pvvp", "io", "no way to the next VNF") for mode in ("bridge", "vepa")],
        ("bridge", "pvvp", "macswap", "no way to the next VNF"),
    ],
)
def test_paths_that_a_mode_cannot_join(mode, topology, forwarding, words):
    with pytest.raises(UnsupportedError, match=words) as caught:
        options(mode).check(layout(topology), choice(forwarding))
    assert caught.value.observed
    assert caught.value.fix


@pytest.mark.parametrize(
    ("mode", "topology", "forwarding"),
    [
        *[(mode, "pvp", "io") for mode in MODES],
        *[(mode, "pvvp", "mac") for mode in ("bridge", "vepa", "passthru")],
        *[(mode, "pvpv", "raw") for mode in ("bridge", "private", "vepa")],
        ("passthru", "pv4p", "io"),
    ],
)
def test_paths_that_it_can(mode, topology, forwarding):
    options(mode).check(layout(topology), choice(forwarding))


def test_only_passthru_can_leave_its_link_as_it_is():
    assert not options("passthru", promiscuous=False).promiscuous
    with pytest.raises(ValidationError, match="promiscuous: false is there for mode passthru"):
        options("bridge", promiscuous=False)


@pytest.mark.parametrize("name", ["macvtap", "macvtap-private", "macvtap-vepa", "macvtap-passthru"])
def test_variants_offer_what_their_mode_can_do_and_say_why_not_the_rest(name):
    variant = PROJECT.load_variant(name)
    native = choice(variant.native_vnf.forwarding)
    for topology in ("pvp", "pvvp", "pv3p", "pvpv", "pcp", "p2p"):
        try:
            variant.options.check(layout(topology), native)
        except UnsupportedError:
            assert "; it has" not in variant.lacks(topology), f"{topology} has a reason"
            assert variant.lacks(topology)
        else:
            assert variant.lacks(topology) == ""
