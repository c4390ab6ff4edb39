"""No data plane is named where all of them are served: what is of one plane alone is in its room.

A word of a foreign program may be a data plane's too; the files that have one say why.
"""

import re

import pytest

from nfvbed.dataplanes.catalogue import ROOMS
from tests.contract.source import ROOT, assert_none, text, tracked

ENGLISH = {"existing", "simulated"}
"""Kinds of data planes that are words of their own."""
NAMES = sorted({*ROOMS} - ENGLISH | {"afxdp", "ovs"}, key=len, reverse=True)
NAMED = re.compile(rf"\b(nfvbed)?_?({'|'.join(name.replace('-', '[-_ ]?') for name in NAMES)})(_\w+)?\b", re.IGNORECASE)
"""Also as a module (`linux_bridge`), in prose (`Linux bridge`), and as a role of nfvbed's (`nfvbed_vpp`)."""
WITHOUT_NAMES = ("nfvbed/cloud/kolla/", "nfvbed/sites/kolla/")
"""Of the others: `test_planes_rooms.py`."""
FOREIGN = {
    "SRIOV_EN": "a setting of a NIC's firmware",
    "ovs_agent_file": "key of a release's profile: the file of Neutron's agent of Open vSwitch",
    "sriov_drivers_autoprobe": "the kernel's file",
    "sriov_numvfs": "the kernel's file, of which every NIC's is read",
    "sriov_totalvfs": "the kernel's file, of which every NIC's is read",
}
"""Words that are no data plane's, wherever they are."""
MAY_NAME = {
    "nfvbed/cloud/kolla/agent.py": "`ovs` is a section of the file of Neutron's agent of Open vSwitch, which every"
    " cloud of Kolla's has on its controllers",
    "nfvbed/sites/kolla/verify/containers.py": "`ovs-appctl` is Open vSwitch's program, which every such cloud has",
}
"""Files that may have such a word, each with the reason."""


def _files():
    return [path for path in tracked() if str(path).startswith(WITHOUT_NAMES)]


def _named(line):
    return [found[0] for found in NAMED.finditer(line) if found[0] not in FOREIGN]


def test_no_data_plane_is_named_where_all_are_served():
    assert_none(
        f"{path}:{number}: {name}"
        for path in _files()
        if str(path) not in MAY_NAME
        for number, line in enumerate(text(path).splitlines(), 1)
        for name in _named(line)
    )


def test_what_may_name_one_does():
    assert_none({name for name in MAY_NAME if not _named(text(ROOT / name))}, "names none:")
    assert_none({word for word in FOREIGN if not any(word in text(path) for path in _files())}, "is nowhere:")


@pytest.mark.parametrize(
    "line", ["case 'vpp':", "LINUX_BRIDGE", "Linux bridge", "nfvbed_sriov", "OVS-DPDK", "import macvtap", "_VPP_ROLE"]
)
def test_a_name_is_found_however_it_is_written(line):
    assert _named(line)


def test_other_words_are_no_names():
    assert not _named("openvswitch, dpdk, novs, previously, nfvbed_sites, sriov_numvfs")
