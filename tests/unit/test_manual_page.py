"""nfvbed(1): groff takes no text for its own words, and the page has every verb, option and exit code."""

import click
from manpage import manual

MACROS = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".nf", ".fi", '.\\"'}


@click.command(name="try")
@click.argument("name")
@click.option("--how-long", metavar="S", help="'Quoted' text with `code`, ~, ^ and a \\ in it.")
@click.option("--hidden", hidden=True, help="Not to be seen.")
def attempt(name: str, how_long: str, hidden: str) -> None:
    """.Begins with a period.

    \b
        kept - as typed
    .5 too
    """


@click.group()
@click.option("--debug", is_flag=True, help="Show it.")
def group(debug: bool) -> None:
    """Measure a thing."""


def page() -> list[str]:
    return manual("1.2-3", group, {"try": attempt}, [("0", "It worked."), ("20", "A deployment failed.")]).splitlines()


def test_only_macros_begin_with_a_period_or_a_quote() -> None:
    lines = page()
    assert {line.split(" ")[0] for line in lines if line.startswith((".", "'"))} <= MACROS
    assert "\\&.Begins with a period." in lines
    assert "\\&.5 too" in lines


def test_what_groff_would_change_is_escaped() -> None:
    lines = page()
    assert "\\&'Quoted' text with \\(gacode\\(ga, \\(ti, \\(ha and a \\e in it." in lines
    assert "    kept \\- as typed" in lines
    assert "\\fB\\-\\-how\\-long S\\fR" in lines


def test_sections_verbs_and_codes_are_there() -> None:
    lines = page()
    sections = [line.removeprefix(".SH ") for line in lines if line.startswith(".SH ")]
    assert sections == ["NAME", "SYNOPSIS", "OPTIONS", "VERBS", "EXIT STATUS", "ENVIRONMENT", "FILES"]
    assert "nfvbed \\- measure a thing" in lines
    assert ".SS nfvbed try [OPTIONS] NAME" in lines
    assert lines[lines.index("\\fB20\\fR") + 1] == "A deployment failed."
    assert not any("hidden" in line for line in lines)
