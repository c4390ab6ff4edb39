"""A described switch as its file has it: what is refused when it is read, with file, line and key."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE, open_project
from nfvbed.errors import ConfigurationError, NotComparableError, UnsupportedError
from nfvbed.plan.stored import require_own_commands
from nfvbed.records import PortKind
from nfvbed.spec.layout import layout
from nfvbed.spec.loader import Project

PROJECT = open_project()
LINKS = """name: mine
title: Mine
topologies: [p2p]
options:
  dataplane: described-switch
  ports: {kind: veth}
  start:
    - [tc, qdisc, add, dev, "{port}", ingress]
  counters:
    run: [tc, -s, -j, qdisc, show, dev, "{port}"]
    rx_packets: {pointer: /0/packets}
"""
SOCKETS = """name: mine
title: Mine
topologies: [p2p]
options:
  dataplane: described-switch
  ports: {kind: vhost-user}
  process:
    run: [my-switch, {for_each_port: [--port, "{socket}"]}]
  counters:
    run: [my-ctl, stats]
    rx_packets: {pattern: '{port} rx (\\d+)'}
    tx_packets: {pattern: '{port} tx (\\d+)'}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "deploy" / "variants").mkdir(parents=True)
    return open_project(tmp_path)


def load(project: Project, text: str):
    (project.variants_folder / "mine.yml").write_text(text)
    return project.load_variant("mine")


@pytest.mark.parametrize(("text", "kind"), [(LINKS, PortKind.VETH), (SOCKETS, PortKind.VHOST_USER)])
def test_a_description_is_read(project: Project, text: str, kind: PortKind) -> None:
    variant = load(project, text)
    assert variant.port_kind is kind
    assert variant.options.counters.is_shared == (text is SOCKETS)


@pytest.mark.parametrize(
    ("text", "old", "new", "says"),
    [
        (LINKS, '"{port}", ingress', '"{prot}", ingress', "{prot}, which is no placeholder"),
        (LINKS, '"{port}", ingress', '"{socket}", ingress', "veth ports have no sockets"),
        (LINKS, '"{port}", ingress', '"{port}", "{first}"', "something of both"),
        (LINKS, "[tc, qdisc, add", '[tc, "|", add', "no shell reads this"),
        (LINKS, "[tc, qdisc, add", "['', qdisc, add", "names its program"),
        (LINKS, '    - [tc, qdisc, add, dev, "{port}", ingress]\n', "    []\n", "nothing forwards"),
        (LINKS, "{pointer: /0/packets}", "{pointer: packets}", "is no JSON pointer"),
        (LINKS, 'show, dev, "{port}"', "show", "the same of every port"),
        (LINKS, 'show, dev, "{port}"', 'show, "{cable}"', "not cables"),
        (LINKS, "{kind: veth}", "{kind: vhost-user}", "no vhost-user ports"),
        (SOCKETS, '{for_each_port: [--port, "{socket}"]}', '"{socket}"', "below for_each_port or for_each_cable"),
        (SOCKETS, '--port, "{socket}"', '"{first}"', "write for_each_cable"),
        (SOCKETS, '--port, "{socket}"', '"{ifindex}"', "vhost-user ports are no links"),
        (SOCKETS, "    tx_packets: {pattern: '{port} tx (\\d+)'}\n", "", "rx_packets and tx_packets"),
    ],
)
def test_what_is_wrong_is_refused(project: Project, text: str, old: str, new: str, says: str) -> None:
    assert old in text
    with pytest.raises(ConfigurationError) as failure:
        load(project, text.replace(old, new))
    assert "mine.yml:" in failure.value.where
    assert says in str(failure.value)


def test_vnfs_side_by_side_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="shares the flows"):
        PROJECT.load_variant("tc-bpf").options.check_layout(layout("pvpv"))


def test_quirks_are_those_of_the_description() -> None:
    kernel, polling = (CATALOGUE.quirks(PROJECT.load_variant(name)) for name in ("tc-bpf", "testpmd"))
    assert (kernel.process, dict(kernel.no_reset), kernel.not_separable) == ("", {}, frozenset())
    assert (polling.process, polling.not_separable) == ("switch", {PortKind.VHOST_USER})


def test_what_the_kernel_forwards_and_nothing_takes_away_has_no_reset(project: Project) -> None:
    quirks = CATALOGUE.quirks(load(project, LINKS))
    assert set(quirks.no_reset) == {PortKind.VETH}


class Stored:
    """A study as a store has it."""

    def __init__(self, *variants, name="trial") -> None:
        self.variants = variants
        self.experiment = type("Experiment", (), {"altered": {}, "name": name})


def test_commands_of_a_store_are_run_only_as_the_projects_file_has_them(project: Project) -> None:
    own = load(project, LINKS)
    require_own_commands(Stored(own, PROJECT.load_variant("linux-bridge")), project)
    other = load(project, LINKS.replace("ingress", "clsact"))
    load(project, LINKS)
    with pytest.raises(NotComparableError, match="are not run") as failure:
        require_own_commands(Stored(other), project)
    assert failure.value.observed == "the run has another start"


def test_the_how_to_shows_the_shipped_file() -> None:
    page = (PROJECT.root / "docs" / "howto" / "describe-a-switch.md").read_text()
    assert page.split("```yaml\n")[1].partition("```")[0] == (PROJECT.variants_folder / "tc-mirred.yml").read_text()


def test_the_how_tos_other_file_is_one(project: Project) -> None:
    page = (PROJECT.root / "docs" / "howto" / "describe-a-switch.md").read_text()
    text = page.split("```yaml\n")[2].partition("```")[0]
    variant = load(project, text.replace("name: nft-fwd", "name: mine"))
    assert [words[0] for words in variant.options.start] == ["nft"] * 3
