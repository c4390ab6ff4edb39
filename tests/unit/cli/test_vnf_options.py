"""Which topology and which VNF a command means where its options say nothing, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from nfvbed.cli.vnf_options import DEFAULT_VNF, choice_of, path_of
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnknownNameError, UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.choices import explicit_label
from nfvbed.spec.vnf import VnfChoice

PROJECT = open_project(Path(__file__).parents[3])
GUESTS = ("emulated-nic", "emulated-nic-rtl8139", "linux-bridge-vhost-net", "linux-bridge-virtio")
MACVTAPS = ("macvtap", "macvtap-passthru", "macvtap-private", "macvtap-vepa")


def chosen(variant: str, topology: str = "pvp", **options: Any) -> VnfChoice:
    choice = choice_of(PROJECT, PROJECT.load_variant(variant), topology, DEFAULT_VNF, options)
    assert choice is not None
    return choice


@pytest.mark.parametrize("name", PROJECT.variant_names)
def test_every_variant_has_a_path_that_a_command_without_options_takes(name: str) -> None:
    variant = PROJECT.load_variant(name)
    topology, choice = path_of(PROJECT, variant, None, DEFAULT_VNF, {})
    assert variant.lacks(topology) == ""
    assert (topology, choice) == ("p2p", None) or topology == "pvp"
    assert choice is None or choice.native


@pytest.mark.parametrize("name", [*GUESTS, *MACVTAPS])
def test_without_p2p_it_is_the_first_topology_with_the_variants_own_vnf_and_why(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    variant = PROJECT.load_variant(name)
    topology, choice = path_of(PROJECT, variant, None, DEFAULT_VNF, {})
    own = "process-router" if name in MACVTAPS else "vm-bridge"
    assert choice is not None
    assert (topology, explicit_label(choice)) == ("pvp", own)
    (line,) = capsys.readouterr().err.splitlines()
    assert variant.not_applicable["p2p"] in line
    assert f"so it is pvp, with the VNF vloop ({own})" in line
    assert chosen(name) == choice, "onboard without options takes what deploy takes"


def test_a_topology_that_is_asked_for_is_refused_with_the_files_reason() -> None:
    for name, topology in (("macvtap", "p2p"), ("macvtap-private", "pvvp"), ("macvtap-private", "pv3p")):
        variant = PROJECT.load_variant(name)
        with pytest.raises(UnsupportedError) as refused:
            path_of(PROJECT, variant, topology, DEFAULT_VNF, {})
        assert variant.not_applicable["pvNp" if topology == "pv3p" else topology] in refused.value.what
        assert "pvp" in refused.value.fix
    with pytest.raises(UnknownNameError):
        path_of(PROJECT, PROJECT.load_variant("macvtap"), "p3p", DEFAULT_VNF, {})


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("ovs-dpdk", "process-io"),
        ("linux-bridge", "process-io"),
        ("sriov", "process-router"),
        ("macvtap", "process-router"),
    ],
)
def test_the_default_is_the_vnfs_where_the_variant_can_have_it(
    name: str, label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explicit_label(chosen(name)) == label
    reported = capsys.readouterr().err
    assert (f"its own VNF is taken: vloop ({label})" in reported) is (label != "process-io")


def test_what_is_asked_for_is_not_replaced_but_refused() -> None:
    refused: list[tuple[str, str, dict[str, Any]]] = [
        ("sriov", "pvp", {"forwarding": "io"}),
        ("sriov", "pvp", {"kind": "process"}),
        ("linux-bridge-virtio", "pvp", {"kind": "process"}),
        ("macvtap", "pvvp", {"forwarding": "io"}),
    ]
    for name, topology, options in refused:
        with pytest.raises(UnsupportedError):
            chosen(name, topology, **options)
    assert explicit_label(chosen("macvtap", forwarding="io")) == "process-io"


def test_other_options_go_with_the_variants_own_vnf() -> None:
    choice = chosen("emulated-nic", flavor="hugepages", offloads=False)
    assert (choice.kind, choice.forwarding, choice.flavor.name, choice.offloads) == (
        VnfKind.VM,
        "bridge",
        "hugepages",
        False,
    )
    own_image = chosen("emulated-nic", image="mine.qcow2")
    assert own_image.forwarding == "image"
    assert own_image.image is not None
    assert not own_image.image.agent


def test_ends_of_a_path_are_judged_as_what_they_do_there() -> None:
    assert chosen("ovs-dpdk", "v2v").forwarding == "io"
