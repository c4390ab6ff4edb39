"""What the how-to says of adding a site is what the site of `test_other_site.py` takes, and what the interface has."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from nfvbed.sites import catalogue
from nfvbed.sites.site import Site
from nfvbed.spec.site import SiteSpec
from tests.unit.cli import memory_site

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "howto" / "add-a-site.md"
TEXT = PAGE.read_text()
NEW = ("deploy/sites/memory.yml", "nfvbed/sites/memory.py")
"""Files that the diff makes."""


def sections(mark):
    """Return the lines of the page's diff that begin with a mark, by their file."""
    diff = TEXT.split("```diff\n")[1].split("```")[0]
    found = {}
    for part in diff.split("+++ b/")[1:]:
        name, *lines = part.splitlines()
        own = [line for line in lines if not line.startswith("---")]
        found[name] = [line[1:] for line in own if line.startswith(mark)]
    return found


def lines_of(name):
    return int(re.search(rf"\| `{re.escape(name)}` \| (\d+) \|", TEXT)[1])


def test_files_that_it_names_are_there():
    named = set(re.findall(r"`((?:nfvbed|tests|deploy|docs)/[\w/.-]*\w/?)`", TEXT)) - set(NEW)
    assert {"nfvbed/spec/site.py", "nfvbed/sites/catalogue.py", "tests/contract/test_imports.py"} <= named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_what_it_adds_is_the_site_that_the_verbs_are_driven_through():
    added, source = sections("+"), Path(memory_site.__file__).read_text()
    of_file = inspect.getsource(memory_site.MemorySiteSpec).splitlines()
    assert added["nfvbed/spec/site.py"][: len(of_file)] == of_file
    assert "\n".join(added["nfvbed/sites/memory.py"]) in source
    (line,) = added["nfvbed/sites/catalogue.py"]
    assert ast.literal_eval(f"{{{line}}}") == {"memory": "nfvbed.sites.memory:open_memory"}
    assert callable(memory_site.open_memory)


def test_lines_are_counted():
    added = sections("+")
    for name in ("deploy/sites/memory.yml", "nfvbed/sites/catalogue.py", "tests/contract/test_imports.py"):
        assert lines_of(name) == len(added[name]), name
    assert lines_of("nfvbed/spec/site.py") == len(added["nfvbed/spec/site.py"])
    # The class of its file, and the two lines between it and the next one, are in the other module.
    of_file = len(inspect.getsource(memory_site.MemorySiteSpec).splitlines()) + 2
    whole = len(Path(memory_site.__file__).read_text().splitlines())
    assert lines_of("nfvbed/sites/memory.py") == whole - of_file


@pytest.mark.parametrize("name", ["nfvbed/spec/site.py", "nfvbed/sites/catalogue.py", "tests/contract/test_imports.py"])
def test_lines_that_it_goes_by_are_there(name):
    there = (ROOT / name).read_text()
    for mark in ("-", " "):
        assert [line for line in sections(mark)[name] if line not in there] == [], mark
    assert list(catalogue.SITES)[-1] == "lab", "its line follows"


def test_every_answer_of_a_file_is_in_the_table():
    own = [name for name in vars(SiteSpec) if not name.startswith(("_", "model_"))]
    assert len(own) > 10
    assert [name for name in own if f"`{name}`" not in TEXT] == []


def test_what_a_site_has_to_have_is_named_and_the_rest_has_a_default():
    said = re.search(r"It has to have (.*?)\.\n", TEXT, re.DOTALL)[1]
    assert set(re.findall(r"`(\w+)`", said)) == Site.__abstractmethods__
    (others,) = re.findall(r"Every other verb of `Site` has a default.*?:\n(.*?)\. ", TEXT, re.DOTALL)
    verbs = set(re.findall(r"`(\w+)`", others))
    assert {"deploy_to_stay", "take_down"} <= verbs
    parts = [
        name for first in re.findall(r"^\| (`\w+`(?:, `\w+`)?) \|", TEXT, re.MULTILINE) for name in first.split(", ")
    ]
    optional = {name.strip("`") for name in parts} - set(vars(SiteSpec))
    assert optional == {"host_view", "staged_cloud", "own_machine", "has_cloud", "inspect"}
    assert [name for name in verbs | optional if not hasattr(Site, name)] == []
    assert not (verbs | optional) & Site.__abstractmethods__
