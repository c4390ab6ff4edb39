"""A mobile core's gateway and its bearers, as files say them: what is a use of its own, and what is refused where."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.wiring import require_path
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.choices import explicit_label, resolve
from nfvbed.spec.document import parse_document
from nfvbed.spec.gateway import GATEWAYS, require_ports
from nfvbed.spec.vnf import VnfChoice, VnfUse

PROJECT = open_project(Path(__file__).parents[3])
STUDY = "name: x\ntitle: X\nvariants: [linux-bridge]\ntopologies: [vepc]\nvnfs:\n  - {{vnf: {}}}\nceilings: false\n"


def choice(forwarding: str, variant: str = "linux-bridge", **use: object) -> VnfChoice:
    found = resolve(
        VnfUse.model_validate({"vnf": "vepc", "forwarding": forwarding, **use}), PROJECT.load_variant(variant), PROJECT
    )
    assert found is not None
    return found


def test_each_gateway_and_each_number_of_bearers_is_a_vnf_of_its_own() -> None:
    made = [choice(forwarding) for forwarding in GATEWAYS]
    made += [choice("xdp-gateway", bearers=count) for count in (16, 1_000)]
    assert len({one.label for one in made}) == len({one.digest for one in made}) == len(made)
    assert {one.label for one in made} == {explicit_label(one) for one in made}
    assert made[-1].label == "process-xdp-gateway-vepc-1000-bearers"


def test_the_stand_in_is_a_vnf_of_its_own_and_nextepcs_pcrf_that_of_before() -> None:
    usual, named, other = (choice("nextepc", **use) for use in ({}, {"pcrf": "nextepc"}, {"pcrf": "stand-in"}))
    assert (usual.label, usual.digest) == (named.label, named.digest)
    assert other.label == explicit_label(other) == "process-nextepc-vepc-stand-in-pcrf"
    assert other.digest != usual.digest


def test_a_vnf_without_bearers_has_the_digest_of_before() -> None:
    """Results of before stay comparable: a trend would end with a key that says nothing."""
    plain = resolve(VnfUse(forwarding="io"), PROJECT.load_variant("ovs-dpdk"), PROJECT)
    assert plain is not None
    text = plain.model_dump_json(exclude={"label", "bearers", "pcrf"})
    assert '"bearers"' not in text
    assert plain.digest == type(plain).model_validate_json(f'{{"label": "another", {text[1:]}').digest


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ("vepc, forwarding: nextepc, bearers: 41", "at most 40"),
        ("vepc, forwarding: nextepc, pcrf: stand-in, bearers: 51", "at most 50"),
        ("vepc, bearers: 1000", "at most 40"),
        ("vloop, forwarding: bridge, bearers: 4", "has no bearers"),
    ],
)
def test_bearers_that_nothing_could_carry_are_refused_at_their_place(use: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot have these bearers") as refused:
        PROJECT.study_of(parse_document(Path("x.yml"), STUDY.format(use)))
    assert told in refused.value.observed
    assert refused.value.where.startswith("x.yml:6")
    assert refused.value.exit_code == 10


@pytest.mark.parametrize("pcrf", ["nextepc", "stand-in"])
def test_a_pcrf_is_that_of_a_mobile_core(pcrf: str) -> None:
    with pytest.raises(ConfigurationError, match="VNF vloop in x.yml cannot have this PCRF") as refused:
        PROJECT.study_of(parse_document(Path("x.yml"), STUDY.format(f"vloop, forwarding: bridge, pcrf: {pcrf}")))
    assert refused.value.where.startswith("x.yml:6")


def test_the_stand_in_lets_fifty_attach() -> None:
    study = STUDY.format("vepc, forwarding: nextepc, pcrf: stand-in, bearers: 50")
    assert PROJECT.study_of(parse_document(Path("x.yml"), study)).experiment.uses[0].bearers == 50


@pytest.mark.parametrize("count", [0, 4_097])
def test_a_table_has_room_for_so_many(count: int) -> None:
    with pytest.raises(ConfigurationError):
        PROJECT.study_of(
            parse_document(Path("x.yml"), STUDY.format(f"vepc, forwarding: xdp-gateway, bearers: {count}"))
        )


@pytest.mark.parametrize(
    ("variant", "forwarding", "why"),
    [
        ("linux-bridge", "nextepc", None),
        ("linux-bridge", "xdp-gateway", None),
        ("ovs-afxdp", "xdp-gateway", None),
        ("ovs-dpdk", "dpdk-gateway", None),
        ("ovs-dpdk-memif", "dpdk-gateway", None),
        ("vpp", "dpdk-gateway", None),
        ("linux-bridge", "dpdk-gateway", "takes vhost-user and memif ports"),
        ("xdp", "dpdk-gateway", "takes vhost-user and memif ports"),
        ("ovs-dpdk", "xdp-gateway", "needs kernel ports"),
        ("ovs-dpdk-memif", "nextepc", "needs kernel ports"),
    ],
)
def test_a_gateway_is_on_ports_that_it_is_for(variant: str, forwarding: str, why: str | None) -> None:
    found, loaded = choice(forwarding, variant), PROJECT.load_variant(variant)
    misfit = loaded.without_gateway(found)
    if why is None:
        assert misfit is None
        require_path(loaded, "vepc", found)
        return
    assert misfit is not None and why in misfit.what
    with pytest.raises(UnsupportedError, match=why):
        require_path(loaded, "vepc", found)


def test_xdp_programs_are_not_put_on_ports_without_a_driver_for_them() -> None:
    with pytest.raises(UnsupportedError, match="veth ports"):
        require_ports("xdp-gateway", PortKind.MACVTAP)
    require_ports("nextepc", PortKind.MACVTAP)
    require_ports("io", PortKind.VHOST_USER)


def test_other_vnfs_and_guests_are_no_gateways() -> None:
    loaded = PROJECT.load_variant("ovs-dpdk")
    kernel = choice("nextepc")
    assert loaded.without_gateway(kernel.model_copy(update={"forwarding": "bridge"})) is None
    assert loaded.without_gateway(kernel.model_copy(update={"kind": VnfKind.VM})) is None
