"""A data plane is in its room: its name stands elsewhere in the package only where the list below says why.

Where every data plane is served at once, no part of a word is the name of one either.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE, ROOMS
from nfvbed.records import PortKind
from nfvbed.spec.options import name_of
from tests.contract.source import assert_none, nodes, python_files, text, tracked

pytestmark = pytest.mark.xdist_group("syntax")

WORDS = {"existing", "simulated", "xdp"}
"""Names that are words of their own: a cloud that exists already, a simulation, the kernel's XDP programs."""
PORTS = {kind.value for kind in PortKind}
"""Kinds of ports and of the kernel's devices have them: `macvtap` is one that QEMU opens, whatever switches."""
PARTS = {
    part for name in ROOMS for part in (name, name.removeprefix("ovs-")) if part not in ("dpdk", "kernel", "overlay")
}
NAMES = sorted(PARTS - WORDS - PORTS)
MENTION = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, NAMES))})(?![\w-])", re.IGNORECASE)

SERVE_ALL = ("nfvbed/cloud/kolla/", "nfvbed/sites/kolla/")
"""Folders in which a name is looked for however it is written."""
_WRITTEN = sorted({*ROOMS} - {"existing", "simulated"} | {"afxdp", "ovs"}, key=len, reverse=True)
_ANY_FORM = "|".join(name.replace("-", "[-_ ]?") for name in _WRITTEN)
WORD_OF = re.compile(rf"\b(nfvbed)?_?({_ANY_FORM})(_\w+)?\b", re.IGNORECASE)
"""Also as a module (`linux_bridge`), in prose (`Linux bridge`), and as a role of nfvbed's (`nfvbed_vpp`)."""
FOREIGN = {
    "SRIOV_EN": "a setting of a NIC's firmware",
    "ovs_datapath": "a variable of Kolla's: the type of all bridges' datapath",
    "ovs_agent_file": "key of a release's profile: the file of Neutron's agent of Open vSwitch",
    "sriov_drivers_autoprobe": "the kernel's file",
    "sriov_numvfs": "the kernel's file, of which every NIC's is read",
    "sriov_totalvfs": "the kernel's file, of which every NIC's is read",
}
"""Words in these folders that are no data plane's."""

HINTS = (
    "nfvbed/cli/offload_price.py",
    "nfvbed/dataplanes/dataplane.py",
    "nfvbed/dataplanes/ports/kernel_options.py",
    "nfvbed/sites/deployedchain.py",
    "nfvbed/spec/framelimits.py",
    "nfvbed/spec/gateway.py",
    "nfvbed/spec/options.py",
    "nfvbed/vnfs/epc/carrying.py",
    "nfvbed/vnfs/offload.py",
    "nfvbed/vnfs/price.py",
    "nfvbed/vnfs/process/life.py",
    "nfvbed/vsperf/conf/nics.py",
)
EXAMPLES = ("nfvbed/cli/explain.py", "nfvbed/errors.py", "nfvbed/plan/cells.py", "nfvbed/records/trial.py")
MAY = {
    **dict.fromkeys(HINTS, "an error says which variant would do"),
    **dict.fromkeys(EXAMPLES, "an example of a cell's name, or of a message"),
    "nfvbed/cloud/kolla/agent.py": "`ovs` is a section of the file of Neutron's agent of Open vSwitch, which every"
    " cloud of Kolla's has on its controllers",
    "nfvbed/sites/kolla/preflight/record.py": "`macvtap` is the kernel's module, which is looked for",
    "nfvbed/sites/kolla/verify/containers.py": "`ovs-appctl` is Open vSwitch's program, which every such cloud has",
    "nfvbed/dataplanes/catalogue.py": "the one list of the rooms",
    "nfvbed/compare/recommendation/costs.py": "the doctor's topic of a machine's SR-IOV",
    "nfvbed/compare/recommendation/recommendation.py": "variants that are compared unless others are named",
    "nfvbed/host/probes/findings.py": "the doctor's topic of a machine's SR-IOV",
    "nfvbed/sites/lab/examine.py": "the doctor's topic of a machine's SR-IOV",
    "nfvbed/spec/rack.py": "the role of a NIC in a rack's file",
    "nfvbed/vnfs/descriptors/requestedresources.py": "a word of TOSCA's",
    "nfvbed/vnfs/descriptors/epa.py": "a word of TOSCA's",
    "nfvbed/vnfs/descriptors/legacy.py": "a word of TOSCA's",
    "nfvbed/vnfs/descriptors/solvnfd.py": "a word of SOL001's",
    "nfvbed/vsperf/conf/released.json": "VSPERF's settings, as they were recorded",
}
"""Files that may, and why."""
FOLDERS = {
    "nfvbed/spec/publications/": "what others have published",
    "nfvbed/foreign/csit_test_case_": "CSIT's schema, as it was recorded",
}
"""Whose files may."""
ROOM_PATHS = tuple({f"{room.replace('.', '/')}/" for room in ROOMS.values()} | {"nfvbed/dataplanes/ovs/"})


def _words(line: str) -> list[str]:
    """Return the words of a line that have the name of a data plane in them, and are not foreign."""
    return [found[0] for found in WORD_OF.finditer(line) if found[0] not in FOREIGN]


def _serving_all() -> list[Path]:
    return [path for path in tracked() if str(path).startswith(SERVE_ALL)]


@cache
def _elsewhere() -> dict[str, list[str]]:
    """Return the names of data planes with their lines, by file of the package that has some and is in no room."""
    found = {}
    for path in tracked():
        name, lines = str(path), enumerate(text(path).splitlines(), 1) if path.parts[0] == "nfvbed" else ()
        named = _words if name.startswith(SERVE_ALL) else MENTION.findall
        places = [f"{number}: {word}" for number, line in lines for word in named(line)]
        if places and not name.startswith(ROOM_PATHS):
            found[name] = places
    return found


def test_names_are_those_of_the_rooms():
    assert {"vpp", "sriov", "vale", "lagopus", "afxdp", "ovs-dpdk", "linux-bridge"} <= set(NAMES)
    assert {name_of(model) for model in CATALOGUE.options} == set(ROOMS)


def test_a_data_plane_is_named_in_its_room_alone():
    assert_none(
        f"{path}:{place}"
        for path, places in _elsewhere().items()
        if path not in MAY and not path.startswith(tuple(FOLDERS))
        for place in places
    )


def test_what_may_name_one_still_does():
    assert_none(set(MAY) - set(_elsewhere()))
    assert_none(folder for folder in FOLDERS if not any(path.startswith(folder) for path in _elsewhere()))
    assert_none(folder for folder in SERVE_ALL if not any(str(path).startswith(folder) for path in tracked()))
    assert_none(word for word in FOREIGN if not any(word in text(path) for path in _serving_all()))


@pytest.mark.parametrize(
    "line", ["case 'vpp':", "LINUX_BRIDGE", "Linux bridge", "nfvbed_sriov", "OVS-DPDK", "import macvtap", "_VPP_ROLE"]
)
def test_a_name_is_found_however_it_is_written(line):
    assert _words(line)


def test_other_words_are_no_names():
    assert not _words("openvswitch, dpdk, novs, previously, nfvbed_sites, sriov_numvfs")


def _asks_for_a_name(node: ast.AST) -> bool:
    """Whether a comparison has the name of a data plane on one side and what a variant has on the other."""
    if isinstance(node, ast.Match):
        sides = [node.subject, *(case.pattern for case in node.cases)]
    elif isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    else:
        return False
    words = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
    return bool(words & set(ROOMS)) and any("dataplane" in ast.unparse(side) for side in sides)


def test_nothing_branches_on_the_name_of_a_data_plane():
    paths = [path for path in python_files("nfvbed") if not str(path).startswith(ROOM_PATHS)]
    assert_none(f"{path}:{node.lineno}" for path in paths for node in nodes(path) if _asks_for_a_name(node))


@pytest.mark.parametrize(
    "source",
    [
        "variant.options.dataplane == 'vpp'",
        "plane.dataplane in ('xdp', 'vale')",
        "match a.dataplane:\n case 'macvtap': pass",
    ],
)
def test_such_a_branch_is_found(source):
    assert any(_asks_for_a_name(node) for node in ast.walk(ast.parse(source)))
