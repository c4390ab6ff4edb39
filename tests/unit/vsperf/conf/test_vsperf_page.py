"""The how-to's table of test IDs is that of the code."""

import re

from nfvbed.vsperf.conf import RUNNABLE, TEST_IDS
from nfvbed.vsperf.conf.calls import FUNCTIONS, METHODS
from nfvbed.vsperf.conf.settings import DEFAULTS
from tests.unit.vsperf.conf.conf_files import ROOT

PAGE = (ROOT / "docs" / "howto" / "vsperf.md").read_text()


def test_every_id_is_in_the_table_as_it_is_in_the_code():
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| ([a-z-]+) \| ([\d,]+) \| (\S*) \|", PAGE, re.MULTILINE)
    assert rows == [
        (name, native.topology or "none", native.kind.value, f"{native.flows:,}", native.variant or "")
        for name, native in TEST_IDS.items()
    ]


def test_the_native_tests_that_can_be_run_are_named():
    (named,) = re.findall(r"Experiments are made of (.+?);", PAGE, re.DOTALL)
    assert set(re.findall(r"`([a-z-]+)`", named)) >= {kind.value for kind in RUNNABLE}


def test_functions_and_methods_are_named():
    for name in FUNCTIONS:
        assert f"`{name.removeprefix('os.path.')}`" in PAGE or f"`{name}`" in PAGE, name
    for methods in METHODS.values():
        assert [name for name in methods if f"`.{name}`" not in PAGE] == []


def test_settings_with_a_default_are_named():
    assert [name for name in DEFAULTS if f"`{name}`" not in PAGE] == []
