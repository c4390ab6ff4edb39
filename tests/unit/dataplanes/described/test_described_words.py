"""Words of commands: what is refused when a file is read, and what is filled in."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.described import words
from nfvbed.dataplanes.described.words import Scope


@pytest.mark.parametrize(
    ("given", "scope"),
    [
        (["tc", "qdisc"], Scope.SWITCH),
        (["--core", "{switch_core}"], Scope.SWITCH),
        (["tc", "dev", "{port}", "to={peer}"], Scope.PORT),
        (["--cable", "{first}:{second}", "{directory}/x"], Scope.CABLE),
        (["{{port}}"], Scope.SWITCH),
    ],
)
def test_a_command_is_run_for_what_it_names(given: list[str], scope: Scope) -> None:
    assert words.scope_of(given) is scope


def test_a_command_of_a_port_and_a_cable_is_refused() -> None:
    with pytest.raises(ValueError, match="something of both"):
        words.scope_of(["{port}", "{first}"])


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("{prot}", "names {prot}, which is no placeholder; there are {id}"),
        ("{}", "no placeholder"),
        ("{port", "written twice"),
        ("a}", "written twice"),
        ("{port!r}", "a name alone, such as {port}"),
        ("{port:>9}", "a name alone"),
        ("{port.__class__}", "no placeholder"),
        ("{port[0]}", "no placeholder"),
    ],
)
def test_what_is_no_placeholder_is_refused(word: str, says: str) -> None:
    with pytest.raises(ValueError, match="placeholder|written twice") as failure:
        words.names_in(word)
    assert says in str(failure.value)


def test_values_are_put_in_as_they_are() -> None:
    values = {"port": "a b;{peer}$(x)", "peer": "s1"}
    assert words.fill("dev={port}{{{peer}}}", values) == "dev=a b;{peer}$(x){s1}"


def test_values_in_a_pattern_stand_for_themselves() -> None:
    assert words.fill_pattern(r"{port}\s{2,3}(\d+)", {"port": "s.0"}) == r"s\.0\s{2,3}(\d+)"
    with pytest.raises(ValueError, match="no placeholder"):
        words.names_in_pattern("{poort}(x)")


def test_ports_have_links_or_sockets() -> None:
    with pytest.raises(ValueError, match="veth ports have no sockets"):
        words.require_ports_have(["{socket}"], links=True)
    with pytest.raises(ValueError, match="vhost-user ports are no links"):
        words.require_ports_have(["{peer_ifindex_hex}"], links=False)


def test_the_how_to_has_every_placeholder() -> None:
    page = (Path(__file__).parents[4] / "docs" / "howto" / "describe-a-switch.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `{")]
    said = [
        f"| `{{{name}}}`{'' if scope is Scope.SWITCH else f' (of a {scope.value})'} | {what} |"
        for scope, names in words.PLACEHOLDERS.items()
        for name, what in names.items()
    ]
    assert rows == said
