"""What nfvbed asks of an Open vSwitch, beside what released ones have and answer."""

import ast
import functools
import re
from pathlib import Path

import pytest

import nfvbed
from nfvbed.dataplanes.ovs import fdb, pmd, reading, rxq
from nfvbed.dataplanes.ovs.afxdp import modes
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.errors import DeployError
from nfvbed.records.drops import DEFAULT_MEANINGS, Cause, CounterSource
from tests.unit.dataplanes.ovs.releases import VERSIONS, answer, statuses

pytestmark = pytest.mark.xdist_group("ovs_releases")  # One worker makes what they share.

PACKAGE = Path(nfvbed.__file__).parent
COMMAND = re.compile(r"^(?:coverage|dpctl|dpif|dpif-netdev|fdb|memory|ofproto|revalidator|tnl|upcall)/[a-z/-]+$")
LACKED = {pmd.STATISTICS: {"4.0.0"}, "fdb/add": {"2.15.0"}}
"""Commands that a release lacks. nfvbed asks for another one there, but for `fdb/add`: that is asked of a devcloud's
switch alone, whose release is the suite's, 3.1 or later."""


@functools.cache
def asked_commands() -> set[str]:
    """Return the commands of ovs-vswitchd that are named anywhere in the package."""
    found = {"list-commands", "version"}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and COMMAND.match(node.value):
                found.add(node.value)
    return found


def test_the_commands_are_found():
    assert {rxq.COMMAND, pmd.STATISTICS, "coverage/show", "dpctl/show", "fdb/stats-show"} <= asked_commands()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_command_that_is_asked_is_one_of_the_release(version):
    lacking = asked_commands() - pmd.commands_of(answer(version, "list-commands"))
    assert lacking == {command for command, versions in LACKED.items() if version in versions}


@pytest.mark.parametrize("version", VERSIONS)
def test_its_version_is_read(version, monkeypatch):
    monkeypatch.setattr(reading.unixctl, "command", lambda socket, name: answer(version, "version"))
    assert reading.version(Path("socket")) == version


@pytest.mark.parametrize("version", VERSIONS)
def test_the_counters_of_drops_are_there(version):
    counted = dict(line.split() for line in answer(version, "coverage-read-counter").splitlines())
    drops = reading.datapath_drops(answer(version, "coverage-show"))
    assert {name for name, count in counted.items() if int(count)} <= set(drops)
    assert [name for name in drops if DEFAULT_MEANINGS.of(name, CounterSource.OVS).cause is Cause.UNKNOWN] == []
    assert drops["drop_action_of_pipeline"] > 0


@pytest.mark.parametrize("version", VERSIONS)
def test_the_table_of_addresses_is_read(version):
    assert fdb.in_table(answer(version, "fdb-stats-show")) == (0, 8192)


@pytest.mark.parametrize("version", VERSIONS)
def test_polling_threads_are_known_by_name(version):
    names = answer(version, "threads").split("\n")
    assert [match["core"] for name in names if (match := reading.PMD_NAME.match(name))] == ["00"]


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_the_mode_of_an_afxdp_port_is_read(version, monkeypatch):
    monkeypatch.setattr(modes.unixctl, "command", lambda control, command: answer(version, "dpctl-show"))
    found = modes.read(Path("socket"), lambda: statuses(version), ["ax0", "null0"])
    assert found == {"ax0": "native"}


def test_a_mode_that_nothing_says_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(modes.unixctl, "command", lambda control, command: answer("4.0.0", "dpctl-show"))
    monkeypatch.setattr(modes, "_PATIENCE_S", 0.0)
    options = OvsAfxdpOptions(dataplane="ovs-afxdp")
    with pytest.raises(DeployError) as caught:
        modes.check(tmp_path, dict, ["ax0"], options)
    assert "neither" in caught.value.observed
