"""What is done on a site is asked of the site, or of its file: nothing above them looks at which kind it is of."""

import ast
import re
from functools import cache
from typing import get_args

import pytest

from nfvbed.spec.site import AnySite, SiteSpec
from tests.contract.source import assert_none, nodes, python_files

pytestmark = pytest.mark.xdist_group("syntax")
ABOVE = ("cli", "dashboard", "run", "vsperf")
LOADS = ("spec/loader.py", "host/identity.py", "plan", "measure", "report", "compare")
"""Beside them: what reads files, and what is told of a site."""
KINDS = {one.__name__ for one in get_args(get_args(AnySite)[0])}
NAMED_SITE = re.compile(r"(^|_)(site|spec|place|where|opened)(s|_spec)?$")
ASKS = ("isinstance", "issubclass")
NARROWS = ("TypeGuard", "TypeIs")


@cache
def _paths():
    found = python_files("nfvbed")
    inside = (*ABOVE, *LOADS)
    return [path for path in found if any(str(path).startswith(f"nfvbed/{one}") for one in inside)]


def _is_site_type(node):
    """Whether an expression names a type of site, or of site's file."""
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    names += [one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)]
    return any(name.endswith(("Site", "SiteSpec")) for name in names)


def _wrong(node):
    """Return what is wrong with a piece of syntax; empty: nothing."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKS:
        return "asks for a site's type" if any(map(_is_site_type, node.args)) else ""
    if isinstance(node, ast.match_case):
        classes = [one.cls for one in ast.walk(node.pattern) if isinstance(one, ast.MatchClass)]
        return "matches a site's type" if any(map(_is_site_type, classes)) else ""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in NARROWS:
        return "narrows a site's type" if _is_site_type(node.slice) else ""
    if isinstance(node, ast.Compare):
        sides = (node.left, *node.comparators)
        typed = any(isinstance(one, ast.Call) for one in sides) and any(map(_is_site_type, sides))
        return "compares what a site is of" if typed or any(map(_is_kind_of_site, sides)) else ""
    if isinstance(node, ast.Match) and _is_kind_of_site(node.subject):
        return "matches a site's kind"
    if isinstance(node, ast.ImportFrom) and node.module == SiteSpec.__module__:
        named = sorted(KINDS & {one.name for one in node.names})
        return f"imports {', '.join(named)}" if named else ""
    return ""


def _is_kind_of_site(node):
    """Whether an expression is `site.kind`, by the names that sites and their files have here."""
    if not (isinstance(node, ast.Attribute) and node.attr == "kind"):
        return False
    owner = node.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return bool(NAMED_SITE.search(name))


def test_nobody_above_looks_at_what_kind_a_site_is_of():
    found = ((path, node, _wrong(node)) for path in _paths() for node in nodes(path))
    assert_none([f"{path}:{node.lineno}: {wrong}" for path, node, wrong in found if wrong], "ask the site instead:")


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(site, KollaSiteSpec)",
        "isinstance(place, sites.VerifiableSite)",
        "isinstance(site, LabSiteSpec | GuestSiteSpec)",
        "site.kind == 'kolla'",
        "study.site.kind not in ('lab', 'guest')",
        "type(place) is LabSite",
        "x: TypeGuard[GuestSiteSpec]",
        "match site:\n    case KollaSiteSpec():\n        pass",
        "match site.kind:\n    case 'lab':\n        pass",
        "from nfvbed.spec.site import CloudSiteSpec",
    ],
)
def test_each_way_to_look_is_found(text):
    assert [wrong for node in ast.walk(ast.parse(text)) if (wrong := _wrong(node))]


@pytest.mark.parametrize(
    "text", ["KINDS[spec.kind]", "vnf.kind == 'vm'", "isinstance(vnf, MachinesVnfSpec)", "site.host is None"]
)
def test_what_is_no_question_of_a_sites_kind_is_left_alone(text):
    assert not [wrong for node in ast.walk(ast.parse(text)) if (wrong := _wrong(node))]
