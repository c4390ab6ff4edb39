"""The shape of the project: known folders, names that say what is inside."""

from pathlib import Path

from tests.contract.source import assert_none, text, tracked

TOP_LEVEL = {
    ".ci",
    "bench",
    "demo",
    "deploy",
    "docs",
    "flavors",
    "horizon-plugin",
    "images",
    "kolla",
    "native",
    "nfvbed",
    "setup",
    "tests",
    "tosca",
    "vnfd",
    "vsperf-conf",
}
PACKAGE = {
    "bundle",
    "cli",
    "cloud",
    "compare",
    "dashboard",
    "dataplanes",
    "foreign",
    "host",
    "measure",
    "plan",
    "records",
    "report",
    "run",
    "search",
    "sites",
    "spec",
    "store",
    "traffic",
    "vnfs",
    "vsperf",
}
CHANGES = {"### What it does", "### What to do on an upgrade"}
"""Sections of a version in the changelog: a merge must not bring others back."""
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


def test_top_level_folders_are_known():
    found = {path.parts[0] for path in tracked() if len(path.parts) > 1}
    assert found <= TOP_LEVEL


def test_folders_of_the_package_are_known():
    found = {path.parts[1] for path in tracked() if path.parts[0] == "nfvbed" and len(path.parts) > 2}
    assert found <= PACKAGE


def test_names_tell_what_is_inside():
    assert_none(str(path) for path in tracked() if path.stem in BANNED_NAMES)


def test_names_of_test_modules_are_unique():
    names = [path.name for path in tracked() if path.parts[0] == "tests" and path.name.startswith("test_")]
    assert_none({name for name in names if names.count(name) > 1})


def test_the_changelog_is_what_a_user_gets_and_must_do():
    lines = text(Path("CHANGELOG.md")).splitlines()
    assert {line for line in lines if line.startswith("### ")} == CHANGES
    assert_none(f"{number}: {line}" for number, line in enumerate(lines, 1) if len(line) > 120)
