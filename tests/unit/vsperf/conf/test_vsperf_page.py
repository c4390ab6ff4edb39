"""The how-to's table of test IDs is that of the code."""

import re

from nfvbed.vsperf.conf import TEST_IDS, TestKind
from nfvbed.vsperf.conf.calls import FUNCTIONS, METHODS
from nfvbed.vsperf.conf.released import NEWEST, releases
from nfvbed.vsperf.conf.settings import DEFAULTED
from nfvbed.vsperf.conf.treatment import SETTINGS, Treatment
from tests.unit.vsperf.conf.conf_files import ROOT

PAGE = (ROOT / "docs" / "howto" / "vsperf.md").read_text()
TABLES = (ROOT / "docs" / "reference" / "vsperf-tests.md").read_text()


def test_every_id_is_in_the_table_as_it_is_in_the_code():
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| ([a-z-]+) \| ([\d,]+) \| (\S*) \|", TABLES, re.MULTILINE)
    assert rows == [
        (name, native.topology or "none", native.kind.value, f"{native.flows:,}", native.variant or "")
        for name, native in TEST_IDS.items()
    ]


def test_the_native_tests_that_can_be_run_are_named():
    (named,) = re.findall(r"Experiments\s+are\s+made\s+of\s+(.+?);", PAGE, re.DOTALL)
    assert set(re.findall(r"`([a-z-]+)`", named)) >= {kind.value for kind in TestKind}


def test_functions_and_methods_are_named():
    for name in FUNCTIONS:
        assert f"`{name.removeprefix('os.path.')}`" in PAGE or f"`{name}`" in PAGE, name
    for methods in METHODS.values():
        assert [name for name in methods if f"`.{name}`" not in PAGE] == []


def test_settings_with_a_default_are_named():
    assert [name for name in DEFAULTED if f"`{name}`" not in PAGE] == []


def test_settings_that_are_used_or_missing_are_named():
    named = [name for name, setting in SETTINGS.items() if setting.treatment is not Treatment.NOTED]
    assert [name for name in named if f"`{name}`" not in PAGE] == []


def test_the_commits_of_the_releases_are_those_that_are_recorded():
    assert releases()[NEWEST].commit[:12] in PAGE
    assert [name for name in (next(iter(releases())), NEWEST) if f"stable/{name}" not in PAGE] == []
