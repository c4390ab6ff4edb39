"""Commands that pages suggest lead to the page Start, with all that they say or not at all."""

from urllib.parse import parse_qs, urlsplit

import pytest

from nfvbed.dashboard.starting.starting import Action, RunChoices, arguments_of
from nfvbed.dashboard.suggested import start_address
from nfvbed.dataplanes.catalogue import open_project

DECIDING = (
    "nfvbed run demo --variant ovs-dpdk --variant linux-bridge --topology pvp --frame-size 64 --set purpose=compare"
    " --set 'vnfs=[{kind: process, forwarding: io}]' --max-rounds 12 --time-limit 3600 --budget 3600"
)


def test_a_command_comes_back_as_its_own_arguments():
    fields = parse_qs(urlsplit(start_address(DECIDING)).query)
    wanted = RunChoices.of(fields, open_project(None))
    assert (wanted.variants, wanted.sizes, wanted.purpose) == (("ovs-dpdk", "linux-bridge"), ("64",), "compare")
    arguments = arguments_of(Action.RUN, wanted)
    assert arguments[arguments.index("--time-limit") + 1] == arguments[arguments.index("--budget") + 1] == "3600"
    assert arguments[arguments.index("--set") + 1] == "vnfs=[{kind: process, forwarding: io}]"
    assert fields["plan"] == ["1"]


@pytest.mark.parametrize(
    "command",
    ["nfvbed run", "nfvbed run demo --unknown 3", "nfvbed run demo --variant", "rm -rf /", "nfvbed run 'demo", ""],
)
def test_what_start_cannot_say_has_no_button(command: str):
    assert start_address(command) == ""


@pytest.mark.parametrize(
    ("command", "address"),
    [
        ("nfvbed run demo", "/start?experiment=demo&plan=1"),
        ("nfvbed deploy vpp --site lab", "/start?variant=vpp&site=lab&plan=1"),
        ("nfvbed run demo --frame-size 64 --frame-size 1518", "/start?experiment=demo&sizes=64+1518&plan=1"),
    ],
)
def test_other_commands(command: str, address: str):
    assert start_address(command) == address
