"""`nfvbed doctor --prepare`: what excludes each other, sites that are no host, a plan that changes nothing."""

import json

import pytest

from nfvbed.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("true",), "COMMAND and --gain are of --prepare"),
        (("--gain", "3"), "COMMAND and --gain are of --prepare"),
        (("--prepare", "--read-only", "--", "true"), "exclude each other"),
        (("--prepare", "--gain", "3", "--", "true"), "exclude each other"),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments, words, capsys):
    assert main(["doctor", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("site", ["rack", "devcloud", "guest-node"])
def test_a_site_that_is_no_host_is_not_prepared(site, capsys):
    assert main(["doctor", "--prepare", "--site", site]) == 11
    assert "cannot prepare a host" in capsys.readouterr().err


def test_the_plan_names_every_topic_and_changes_nothing(capsys):
    assert main(["doctor", "--prepare", "--read-only", "--json"]) == 0
    topics = json.loads(capsys.readouterr().out)
    assert {one["topic"] for one in topics} >= {"CPU governor", "idle states", "interrupts", "lock-up watchdogs"}
    assert all(one["summary"] and one["changed"] == 0 for one in topics)
