"""Listing commands: their text fits a terminal, and other programs take rows as from OpenStack's client."""

import csv
import io
import json
import subprocess

import click
import pytest
import yaml

from nfvbed.cli.listing import Format, listing_options
from nfvbed.cli.main import main
from nfvbed.cli.outline import FILE
from nfvbed.cli.readiness import MOST_LINES, summary
from nfvbed.records import Readiness
from nfvbed.records.findings import Finding, PlainReport, State
from nfvbed.records.trial import Support
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.spec.root import find_root

LISTINGS = {
    *("variants", "doctor", "runs", "trend", "compare", "plan", "verify"),
    *("devcloud status", "kolla releases", "rack status"),
}


@click.command()
@listing_options("name", "planes", "rate_pps")
def listing(output):
    rows = [{"name": "a b", "planes": ("x", "y"), "rate_pps": 1.5}, {"name": "=1+1\nc", "planes": []}]
    output.show(lambda: rows, lambda: {"whole": True}, lambda: click.echo("for people"))


def said(capsys, *words):
    listing.main(list(words), standalone_mode=False)
    return capsys.readouterr().out


def test_each_form_has_the_rows(capsys):
    assert said(capsys) == said(capsys, "-f", "table") == "for people\n"
    assert json.loads(said(capsys, "--json")) == {"whole": True}
    rows = [
        {"name": "a b", "planes": ["x", "y"], "rate_pps": 1.5},
        {"name": "=1+1\nc", "planes": [], "rate_pps": None},
    ]
    assert json.loads(said(capsys, "-f", "json")) == yaml.safe_load(said(capsys, "-f", "yaml")) == rows
    # Missing is not zero, and a spreadsheet does not calculate.
    assert said(capsys, "-f", "csv") == '"name","planes","rate_pps"\n"a b","x,y",1.5\n"\'=1+1\nc","",""\n'
    assert said(capsys, "-f", "value") == "a b x,y 1.5\n=1+1 c  None\n"


def test_columns_are_chosen_and_keep_their_order(capsys):
    assert said(capsys, "-f", "value", "-c", "rate_pps", "-c", "NAME") == "a b 1.5\n=1+1 c None\n"
    assert "rate pps" in said(capsys, "-c", "rate_pps") and "planes" not in said(capsys, "-c", "rate_pps")
    with pytest.raises(click.UsageError, match="no column 'nmae'; did you mean 'name'"):
        said(capsys, "-c", "nmae")
    for words in (["-f", "csv"], ["-c", "name"]):
        with pytest.raises(Exception, match="--json and .* exclude each other"):
            said(capsys, "--json", *words)


def described(verbs, above=""):
    for verb, found in verbs.items():
        yield above + verb, {option for one in found["parameters"] for option in one.get("opts", ())}
        yield from described(found.get("verbs", {}), f"{above}{verb} ")


def test_every_listing_command_takes_the_same_options():
    options = dict(described(json.loads(FILE.read_text())))
    assert {name for name, found in options.items() if "--column" in found} == LISTINGS
    assert all({"-f", "--format", "-c", "--json"} <= options[name] for name in LISTINGS)


def test_variants_are_read_at_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["variants"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines.index("") <= MOST_LINES, "the summary comes first"
    assert "data planes" in lines[0]
    assert main(["variants", "-f", "csv", "-c", "variant", "-c", "data_plane"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {"variant": "ovs-dpdk-memif", "data_plane": "ovs-dpdk"} in rows
    assert main(["variants", "vpp", "-f", "value", "-c", "port_kind"]) == 0
    assert capsys.readouterr().out == "vhost-user\n"


def report(*supports):
    topics = [Finding(topic=f"topic-{number}", state=State.ABSENT, summary="-", probed="read") for number in range(40)]
    return PlainReport(site="s", topics=tuple(topics), variants=supports)


def unsupported(name, fix):
    return Support(variant=name, readiness=Readiness.UNSUPPORTED, reason=f"{name} lacks it", fix=fix)


def test_the_doctors_summary_has_ten_lines_and_begins_with_what_helps_most():
    many = [unsupported(f"v{number}", f"fix {number} " + "x" * 90) for number in range(12)]
    both = [unsupported("a", "make build"), unsupported("b", "make build")]
    ready = [Support(variant=f"ready-{number}", readiness=Readiness.READY) for number in range(20)]
    lines = [line.plain for line in summary(report(*many, *both, *ready), 80)]
    assert len(lines) == MOST_LINES
    assert max(map(len, lines)) <= 80
    assert lines[1] == "34 variants: 20 ready, 14 unsupported"
    assert lines[2].startswith("ready: ready-0, ") and lines[2].endswith(" more")
    cut = next(index for index, line in enumerate(lines) if "of 13 changes" in line)
    assert lines[cut + 1] == "  2 variants: make build (a lacks it)"


def test_the_doctor_shows_all_where_it_is_asked_to(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    # A probe makes namespaces and a run directory for a moment: those of other tests are beside this one.
    monkeypatch.setattr(LabMachine, "probe", lambda _, variant: unsupported(variant.name, "load it"))
    main(["doctor", "--read-only", "--details"])
    out = capsys.readouterr().out
    first = out[: out.index("What it has")].splitlines()
    assert 3 < len(first) <= MOST_LINES, "the summary comes first"
    assert "to fix it: " in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "meant"),
    [(["varaints"], "variants"), (["rack", "satrt"], "start"), (["runs", "--labl=x"], "--label")],
)
def test_what_was_probably_meant_is_said(words, meant, capsys):
    assert main(words) == 2
    assert f"'{meant}'" in capsys.readouterr().err


def test_make_says_which_target_was_probably_meant():
    made = subprocess.run(
        ["make", "deploy-ovs-dppk", "--no-print-directory"], cwd=find_root(None), capture_output=True, text=True
    )
    assert made.returncode == 2
    assert "there is no target 'deploy-ovs-dppk'" in made.stderr and "make deploy-ovs-dpdk" in made.stderr


def test_the_forms_are_those_of_the_client():
    # cliff 4.17.0, entry points of `cliff.formatter.list`.
    assert [entry.value for entry in Format] == ["csv", "json", "table", "value", "yaml"]
