"""What may import what, at every level of the package: a folder's lines are in docs/architecture.md.

An import runs down: to a lower line of the innermost folder that both ends are in. What a line has beside each other
does not import each other. Modules of a folder that no line names are its `OWN`: they may import each other, but
nothing may lead back to where it began, be it a module or a folder.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import pytest

from tests.contract.source import assert_none, nodes, python_files, text, tracked

pytestmark = pytest.mark.xdist_group("syntax")

OWN = "(own modules)"
ROOMS = "(all other folders)"
"""A data plane's: the next one needs no line here."""
ARROWS = {
    "nfvbed": (
        ("__main__",),
        ("cli",),
        ("dashboard",),
        ("foreign",),
        ("vsperf",),
        ("bundle", "run"),
        ("report", "measure"),
        ("sites",),
        ("vnfs",),
        ("dataplanes",),
        ("cloud",),
        ("host",),
        ("traffic", "plan", "search", "store", "compare"),
        ("spec",),
        ("records",),
        (OWN,),
    ),
    "nfvbed.cloud": (("box",), ("devcloud",), ("compute",), ("kolla", "tacker", "verify"), (OWN,)),
    "nfvbed.cloud.box": (("images",), (OWN,)),
    "nfvbed.cloud.devcloud": (
        (OWN,),
        ("root",),
        ("services",),
        ("nodes",),
        ("places",),
    ),
    "nfvbed.compare": (
        ("recommendation",),
        (OWN,),
        ("advice",),
        ("differences",),
        ("rows",),
        ("verdict",),
        ("samples",),
    ),
    "nfvbed.dashboard": (
        ("app",),
        ("chain", "evidence", "starting"),
        ("annotating", "auditing", "deployments", "livepages", "metrics", "pages"),
        ("live",),
        ("access",),
        (OWN,),
        ("results",),
        ("people",),
        ("jobs",),
        ("audit", "problems"),
    ),
    "nfvbed.dataplanes": (
        ("devcloud",),
        ("catalogue",),
        (ROOMS,),
        ("computes",),
        ("ports",),
        (OWN,),
    ),
    "nfvbed.dataplanes.ovs": (
        ("ovn_overlay",),
        ("ovn",),
        ("dpdk", "afxdp", "kernel", "overlay"),
        ("switch",),
        ("owntaps", "ownveths"),
        ("entries", "chaincontrol", "inplace"),
        ("steering",),
        (OWN,),
    ),
    "nfvbed.dataplanes.vpp": (("compute",), ("node",), ("nodeprocess",), ("neutron_vpp",), (OWN,)),
    "nfvbed.host": (
        ("preparation",),
        ("probes",),
        ("nics", "qemu", "remote", "testpmd"),
        ("facts", "generator"),
        ("workspace",),
        ("memory",),
        ("cores", "ledger"),
        ("network",),
        (OWN,),
    ),
    "nfvbed.measure": (("telemetry",), (OWN,)),
    "nfvbed.report": (("files", "papers"), ("page", "terminal"), ("figures", "csv"), (OWN,)),
    "nfvbed.run": (("runner", "switching"), ("execution",), ("visits",), ("testing",), ("kinds",), (OWN,)),
    "nfvbed.sites": (
        ("doctor",),
        ("catalogue",),
        ("kolla",),
        ("guest_node", "openstack"),
        ("lab", "simulated"),
        ("absent", "hosted", "verify"),
        ("site",),
        ("deployed", "deployedchain", "disruption", "hostview", "ownmachine", "stages"),
    ),
    "nfvbed.sites.kolla": (
        ("rack",),
        ("verified", "staged", "upgradepreview"),
        ("site",),
        ("measured",),
        ("executor",),
        ("preflight", "verify"),
        (OWN,),
    ),
    "nfvbed.sites.openstack": (
        ("site",),
        ("disruption", "setting_up", "sidebyside"),
        ("descriptorvnfs",),
        ("tackervnfs",),
        ("seeds",),
        ("existing", "owncloud"),
        ("provider",),
        ("target", "deployment"),
        ("mobilecore", "machinerow"),
        ("requests",),
        ("vnfs", "images"),
        (OWN,),
    ),
    "nfvbed.spec": (
        (OWN,),
        ("testkinds",),
        ("search",),
        ("searchpresets",),
        ("validate", "pcrf"),
        ("document", "model"),
        ("boundedyaml", "textfile"),
    ),
    "nfvbed.store": ((OWN,), ("migrations",), ("schema",)),
    "nfvbed.traffic": (("simulated", "sockets", "trex"), (OWN,)),
    "nfvbed.vnfs": (
        ("peers", "price"),
        ("catalogue",),
        ("descriptors", "sockets"),
        ("epc", "guest"),
        ("gateway", "process", "vm"),
        (OWN,),
    ),
    "nfvbed.vnfs.descriptors": (("machines",), (OWN,)),
    "nfvbed.vsperf": (("driver", "export"), ("conf",)),
}
"""Lines from the top down."""
PATH_IN_A_STRING = re.compile(r"nfvbed(\.\w+)+")
"""Path of a module that is imported when it is asked for: `nfvbed.vnfs.process.kernel:KernelVnf`."""


@dataclass(frozen=True)
class Import:
    """One import of one module by another."""

    source: str
    target: str
    place: str

    def parting(self) -> tuple[str, str, str]:
        """Return the innermost folder that both are in, and what they are, or are in, below it."""
        ours, theirs = self.source.split("."), self.target.split(".")
        depth = next(i for i in range(len(ours) + 1) if ours[: i + 1] != theirs[: i + 1] or i == len(ours))
        return ".".join(ours[:depth]), _child(ours, depth), _child(theirs, depth)

    def __str__(self) -> str:
        return f"{self.place} imports {self.target}"


def _child(parts, depth):
    return parts[depth] if depth < len(parts) else "__init__"


def _module(path):
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


MODULES = {_module(path): path for path in python_files("nfvbed") if "plugin" not in path.parts}
FOLDERS = sorted({_module(path) for path in MODULES.values() if path.name == "__init__.py"})


def _targets(node) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        full = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name if name in MODULES else node.module for name in full)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value.partition(":")[0]
        if PATH_IN_A_STRING.fullmatch(name) and name in MODULES:
            yield name


@cache
def _imports() -> tuple[Import, ...]:
    """Return every import once; none is relative, ruff sees to that."""
    return tuple(
        dict.fromkeys(
            # A package and its module are distinguished by what is in it: `nfvbed.store` is its __init__.
            Import(module, target, f"{path}:{node.lineno}")
            for module, path in MODULES.items()
            for node in nodes(path)
            for target in _targets(node)
            if target.split(".")[0] == "nfvbed" and target != module
        )
    )


def _line(folder, child):
    lines = ARROWS[folder]
    named = [number for number, names in enumerate(lines) if child in names]
    rest = ROOMS if f"{folder}.{child}" in FOLDERS else OWN
    return named[0] if named else next(number for number, names in enumerate(lines) if rest in names)


def _is_allowed(imported):
    folder, ours, theirs = imported.parting()
    if folder not in ARROWS or "__init__" in (ours, theirs):
        return True  # only circles are of interest there
    upper, lower = _line(folder, ours), _line(folder, theirs)
    return upper < lower or (upper == lower and OWN in ARROWS[folder][upper])


def _circle(edges):
    """Return a circle of a graph as a list of nodes, the first one again at its end; empty where there is none."""
    done, way = set(), []

    def follow(node):
        if node in way:
            return [*way[way.index(node) :], node]
        if node in done:
            return []
        way.append(node)
        for further in sorted(edges.get(node, ())):
            found = follow(further)
            if found:
                return found
        way.pop()
        done.add(node)
        return []

    return next((found for node in sorted(edges) if (found := follow(node))), [])


def test_imports_run_down():
    wrong = (str(one) for one in _imports() if not _is_allowed(one))
    assert_none(wrong, "runs up or aside:")


def test_only_the_command_line_knows_its_library():
    """What loads runs and makes reports serves a dashboard too."""
    wrong = [str(path) for module, path in MODULES.items() if "click" in _libraries(path) and not _is_cli(module)]
    assert_none(wrong)


def _libraries(path):
    found = [node for node in nodes(path) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.name for node in found if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in found if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names}


def _is_cli(module):
    return module == "nfvbed.__main__" or module.startswith("nfvbed.cli")


def test_the_dashboard_deploys_and_measures_nothing():
    """It reads from the host whether a trial is going, and nothing else."""
    sign = "nfvbed.host.workspace.trialsign"
    lower = {"report", "compare", "store", "spec", "dataplanes", "plan", "records"}
    upper = {folder.split(".")[1] for folder in FOLDERS if "." in folder} - lower - {"dashboard"}
    assert_none(
        str(one)
        for one in _imports()
        if one.source.startswith("nfvbed.dashboard")
        and one.target != sign
        and one.target.partition(".")[2].split(".")[0] in upper
    )


def test_nothing_leads_back_to_where_it_began():
    edges, why = {folder: {} for folder in FOLDERS}, {}
    for one in _imports():
        folder, ours, theirs = one.parting()
        if folder in edges and ours != theirs:
            edges[folder].setdefault(ours, set()).add(theirs)
            why.setdefault((folder, ours, theirs), str(one))
    circles = [[why[folder, *pair] for pair in pairwise(_circle(edges[folder]))] for folder in FOLDERS]
    assert_none("\n".join(["a circle:", *steps]) for steps in circles if steps)


def test_lines_name_every_folder_and_nothing_else():
    parents = {folder.rpartition(".")[0] for folder in FOLDERS if "." in folder}
    versions = {"nfvbed.store.migrations"}
    """Its one folder holds the formats, which nothing imports by name."""
    assert parents - versions == set(ARROWS)
    for folder, lines in ARROWS.items():
        there = {
            module.removeprefix(f"{folder}.").split(".")[0] for module in MODULES if module.startswith(f"{folder}.")
        }
        every = {name for names in lines for name in names}
        named = every - {OWN, ROOMS}
        assert named <= there, f"{folder}: {sorted(named - there)} are not there"
        subfolders = {name for name in there if f"{folder}.{name}" in FOLDERS}
        assert ROOMS in every or subfolders <= named, f"{folder}: {sorted(subfolders - named)} have no line"


C_SOURCES = [path for path in tracked() if path.parts[:2] == ("native", "nfvgen") and path.suffix in (".c", ".h")]
DEFINITION = re.compile(r"^(?!static|typedef|#|\s|//|/\*)[\w\s\*]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def _code(path):
    return NOT_CODE.sub(" ", text(path))


def _definitions():
    """Return the file that defines a function, by the folder of the engine that has it and its name."""
    found = {}
    for path in C_SOURCES:
        if path.suffix == ".c":
            found |= {(path.parent, name): path for name in DEFINITION.findall(_code(path))}
    return found


def test_functions_of_the_generator_lead_nowhere_back():
    """A file calls into others, and none of those calls back into it, by whatever header the function is declared."""
    defined = _definitions()
    edges, why = {}, {}
    for path in C_SOURCES:
        for name in set(re.findall(r"\b\w+\b", _code(path))) if path.suffix == ".c" else ():
            for folder in {path.parent, *(() if len(path.parts) == 3 else (path.parent.parent,))}:
                target = defined.get((folder, name))
                if target is not None and target != path:
                    edges.setdefault(path, set()).add(target)
                    why.setdefault((path, target), f"{path} uses {name} of {target}")
    steps = [why[pair] for pair in pairwise(_circle(edges))]
    assert_none(steps, "a circle:")


def test_headers_of_the_generator_lead_nowhere_back():
    edges = {path: set() for path in C_SOURCES}
    for path in C_SOURCES:
        for name in INCLUDE.findall(text(path)):
            near = [folder / name for folder in (path.parent, path.parent.parent) if folder / name in edges]
            edges[path] |= set(near[:1])
    circle = [str(path) for path in _circle(edges)]
    assert not circle, "a circle: " + " includes ".join(circle)
