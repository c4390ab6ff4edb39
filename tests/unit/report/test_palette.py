"""Colours: a variant keeps its own from view to view."""

from nfvbed.report.figures.palette import OWN, PALETTE, colors_of
from nfvbed.report.figures.theme import DARK, LIGHT
from nfvbed.report.page.page import style_sheet


def test_a_variant_keeps_its_colour_whatever_is_beside_it():
    both = colors_of(["ovs-dpdk", "linux-bridge"])
    assert both["ovs-dpdk"] == colors_of(["vpp", "ovs-dpdk"])["ovs-dpdk"] == colors_of(["ovs-dpdk"])["ovs-dpdk"]
    assert list(both) == ["ovs-dpdk", "linux-bridge"]
    assert colors_of(["own-variant"]) == colors_of(["own-variant"])


def test_data_planes_have_places_of_their_own():
    assert sorted(OWN.values()) == list(range(len(PALETTE)))


def test_eight_settings_have_eight_colours_and_more_share_them():
    names = ["ovs-dpdk", "ovs-dpdk (12345678)", "ovs-dpdk-smc", "vpp", "a", "b", "c", "d"]
    assert len(set(colors_of(names).values())) == len(PALETTE)
    assert len(set(colors_of([*names, "e", "f"]).values())) == len(PALETTE)


def test_pictures_have_the_colours_of_the_style_sheet():
    light, dark = style_sheet().split("prefers-color-scheme:dark", 1)
    for theme, style in ((LIGHT, light), (DARK, dark.split("}}", 1)[0])):
        for name, color in theme.model_dump().items():
            assert f"--{name}:{color}" in style, name
