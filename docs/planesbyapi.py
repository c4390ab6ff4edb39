"""The table data plane x VNF x API of Tacker, from the marks `drives` of the tests on a cloud."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nfvbed.spec.loader import Project

FOLDER = Path(__file__).parents[1] / "tests" / "openstack"
MARK = "drives"
PLANES = ("ovs-dpdk", "linux-bridge", "macvtap", "ovs-afxdp", "vpp", "ovn")
"""The data planes that a devcloud has computes for, but `sriov`, which needs NICs with virtual functions."""
VNFS = ("vloop", "vepc")
APIS = ("legacy", "sol")
_INTRO = """Which test onboards which VNF through which of Tacker's APIs on which data plane. A test says so itself, by
its mark `drives`. The tests are in `tests/openstack`, on a real OpenStack on this machine; `make test-openstack-all`
runs all of them, continuous integration those of a path. *Not run yet* is said where a test has been written and its
cloud was not to be had."""


@dataclass(frozen=True)
class Driven:
    """What a test declares."""

    test: str
    vnf: str
    planes: tuple[str, ...]
    apis: tuple[str, ...]
    run: bool
    """Whether it has been run where it was written."""
    remark: str
    """What comes of it there, where that is no VNF that works; empty: it is one."""


def page(project: Project) -> str:
    """Return the text below the title.

    Raises:
        ValueError: a test declares a plane, VNF or API that there is not.
    """
    declared = tuple(one for path in sorted(FOLDER.glob("test_*.py")) for one in read(path.name, path.read_text()))
    for one in declared:
        unknown = {*one.planes} - {*project.variant_names} | {one.vnf} - {*VNFS} | {*one.apis} - {*APIS}
        if unknown:
            raise ValueError(f"{one.test} declares {', '.join(sorted(unknown))}, which there is not")
    heads = [f"{vnf}, {api}" for vnf in VNFS for api in APIS]
    rows = [f"| data plane | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for plane in PLANES:
        cells = [_cell(declared, plane, vnf, api) for vnf in VNFS for api in APIS]
        rows.append(f"| `{plane}` | {' | '.join(cells)} |")
    return "\n\n".join((_INTRO, "\n".join(rows)))


def read(name: str, text: str) -> Iterator[Driven]:
    """Yield what the tests of a module declare; nothing of it is executed."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Attribute) and mark.func.attr == MARK:
                vnf, planes, apis = (ast.literal_eval(argument) for argument in mark.args)
                more = {word.arg: ast.literal_eval(word.value) for word in mark.keywords}
                yield Driven(
                    f"{name}::{node.name}",
                    vnf,
                    tuple(planes),
                    tuple(apis),
                    more.get("run", True),
                    more.get("remark", ""),
                )


def _cell(declared: tuple[Driven, ...], plane: str, vnf: str, api: str) -> str:
    found = [one for one in declared if vnf == one.vnf and plane in one.planes and api in one.apis]
    return "<br>".join(f"`{one.test}`{_remark(one)}" for one in found) or "no test drives it"


def _remark(one: Driven) -> str:
    words = one.remark or ("" if one.run else "not run yet")
    return f" ({words})" if words else ""
