"""What the host uses a network device for, as the kernel tells it: in a namespace of its own. As root."""

import socket

import pytest
from pyroute2 import IPRoute

from nfvbed.host.network import namespaces
from nfvbed.host.nics.uses import uses_of

NAMES = ("free", "addressed", "routed", "bridged", "shared")


@pytest.fixture(name="netns")
def _netns(tmp_path):
    path = str(tmp_path / "netns")
    namespaces.create(path)
    yield path
    namespaces.remove(path)


def make_links():
    """Five devices, all of them up; each but the first is used in another way."""
    with IPRoute() as route:
        index = {}
        for name in NAMES:
            route.link("add", ifname=name, kind="veth", peer=f"{name}-peer")
            index[name] = route.link_lookup(ifname=name)[0]
            for end in (name, f"{name}-peer"):
                route.link("set", index=route.link_lookup(ifname=end)[0], state="up")
        route.addr("add", index=index["addressed"], address="192.0.2.1", prefixlen=24)
        route.addr("add", index=index["addressed"], address="2001:db8::1", prefixlen=64)
        route.route("add", family=socket.AF_INET, dst="default", oif=index["routed"])
        route.link("add", ifname="br9", kind="bridge")
        route.link("set", index=index["bridged"], master=route.link_lookup(ifname="br9")[0])
        route.link("add", ifname="above", kind="macvlan", link=index["shared"], macvlan_mode="bridge")


def test_every_use_is_seen_and_a_device_that_is_only_up_is_free(netns):
    namespaces.inside(netns, make_links)
    found = namespaces.inside_with_sysfs(netns, lambda: {name: uses_of(name) for name in NAMES})
    assert found["free"] == ()
    assert set(found["addressed"]) == {"it has the address 192.0.2.1/24", "it has the address 2001:db8::1/64"}
    assert found["routed"] == ("the default route leaves by it",)
    assert found["bridged"] == ("br9 is on top of it",)
    assert found["shared"] == ("above is on top of it",)
