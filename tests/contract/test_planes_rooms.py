"""A data plane is in its room: its name stands elsewhere in the package only where the list below says why."""

import ast
import re
from functools import cache

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
)
EXAMPLES = ("nfvbed/cli/explain.py", "nfvbed/errors.py", "nfvbed/plan/cells.py", "nfvbed/records/trial.py")
MAY = {
    **dict.fromkeys(HINTS, "an error says which variant would do"),
    **dict.fromkeys(EXAMPLES, "an example of a cell's name, or of a message"),
    "nfvbed/dataplanes/catalogue.py": "the one list of the rooms",
    "nfvbed/compare/recommendation/costs.py": "the doctor's topic of a machine's SR-IOV",
    "nfvbed/compare/recommendation/recommendation.py": "variants that are compared unless others are named",
    "nfvbed/host/probes/findings.py": "the doctor's topic of a machine's SR-IOV",
    "nfvbed/sites/lab/examine.py": "the doctor's topic of a machine's SR-IOV",
    "nfvbed/spec/rack.py": "the role of a NIC in a rack's file",
    "nfvbed/spec/site.py": "an example of a site's file",
    "nfvbed/vnfs/descriptors/asked.py": "a word of TOSCA's",
    "nfvbed/vnfs/descriptors/epa.py": "a word of TOSCA's",
    "nfvbed/vnfs/descriptors/legacy.py": "a word of TOSCA's",
    "nfvbed/vnfs/descriptors/solvnfd.py": "a word of SOL001's",
}
"""Files that may, and why."""
FOLDERS = {
    "nfvbed/spec/publications/": "what others have published",
    "nfvbed/vsperf/conf/": "VSPERF's names of switches and tests, and what is measured for them",
}
"""Whose files may."""
ROOM_PATHS = tuple({f"{room.replace('.', '/')}/" for room in ROOMS.values()} | {"nfvbed/dataplanes/ovs/"})


@cache
def _elsewhere() -> tuple[str, ...]:
    """Return the files of the package that name a data plane and are in no room."""
    paths = [str(path) for path in tracked() if path.parts[0] == "nfvbed"]
    return tuple(path for path in paths if not path.startswith(ROOM_PATHS) and MENTION.search(text(path)))


def test_names_are_those_of_the_rooms():
    assert {"vpp", "sriov", "vale", "lagopus", "afxdp", "ovs-dpdk", "linux-bridge"} <= set(NAMES)
    assert {name_of(model) for model in CATALOGUE.options} == set(ROOMS)


def test_a_data_plane_is_named_in_its_room_alone():
    assert_none(path for path in _elsewhere() if path not in MAY and not path.startswith(tuple(FOLDERS)))


def test_what_may_name_one_still_does():
    assert_none(set(MAY) - set(_elsewhere()))
    assert_none(folder for folder in FOLDERS if not any(path.startswith(folder) for path in _elsewhere()))


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
