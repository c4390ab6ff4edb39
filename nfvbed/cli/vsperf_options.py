"""The options by which `run` takes a test of VSPERF, natively or through the user's own VSPERF."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from nfvbed.cli.no_secrets import require_no_secret
from nfvbed.cli.study_on_site import fitted
from nfvbed.errors import UsageError
from nfvbed.records import VnfKind
from nfvbed.spec.commands import USUAL_SITE
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study
from nfvbed.vsperf.conf import VsperfSettings, read_settings, select, study_of, with_parameters
from nfvbed.vsperf.conf.placed import lines_of_notes
from nfvbed.vsperf.conf.selection import name_of

Function = TypeVar("Function", bound=Callable[..., Any])

NATIVE: Final = "native"
VSPERF: Final = "vsperf"
_ONLY_WITH_VSPERF: Final = ("conf", "test_params", "vnf_kind", "trafficgen")


def vsperf_options(function: Function) -> Function:
    """Add the options; `chosen_driver` says what they ask for."""
    options = (
        click.option(
            "--vsperf",
            "vsperf_test",
            is_flag=True,
            help="EXPERIMENT is a test of VSPERF (phy2phy_tput); --driver says who runs it.",
        ),
        click.option(
            "--driver",
            type=click.Choice([NATIVE, VSPERF]),
            default=NATIVE,
            show_default=True,
            help="vsperf: EXPERIMENT is a test of VSPERF, run by the user's own VSPERF in $VSPERF_DIR.",
        ),
        click.option(
            "--conf",
            multiple=True,
            type=click.Path(path_type=Path),
            metavar="FILE|DIR",
            help="Settings in VSPERF's form, later ones replace earlier ones; repeatable. Default: vsperf-conf.",
        ),
        click.option(
            "--test-params",
            metavar="TEXT",
            help="Settings of VSPERF for this test: 'TRAFFICGEN_PKT_SIZES=(64,); TRAFFICGEN_DURATION=10'.",
        ),
        click.option(
            "--vnf-kind",
            type=click.Choice([VnfKind.VM.value, VnfKind.PROCESS.value]),
            help="With --vsperf, what VNFs run in. Default: vm, as in VSPERF.",
        ),
        click.option(
            "--trafficgen",
            metavar="NAME",
            help="With --driver vsperf, VSPERF's generator: NfvGen (ours), Dummy, or one of VSPERF's. Default: NfvGen.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def chosen_driver(options: Mapping[str, Any]) -> str | None:
    """Return how a test of VSPERF is run; None where none is asked for.

    Raises:
        UsageError: options that do not go together.
    """
    driver = VSPERF if options["driver"] == VSPERF else NATIVE if options["vsperf_test"] else None
    unused = {None: _ONLY_WITH_VSPERF, NATIVE: ("trafficgen",), VSPERF: ("vnf_kind",)}[driver]
    given = [f"--{name.replace('_', '-')}" for name in unused if options[name]]
    if given:
        fix = {None: "add --vsperf or --driver vsperf", NATIVE: "leave it out", VSPERF: "leave it out"}[driver]
        raise UsageError("an option has nothing to act on", observed=", ".join(given), fix=fix)
    return driver


def read_options(project: Project, options: Mapping[str, Any]) -> VsperfSettings:
    """Read the settings that are named, or those of the project.

    Raises:
        ConfigurationError: a setting is not valid; the message has file and line.
    """
    settings = read_settings(options["conf"] or [project.root / "vsperf-conf"])
    require_no_secret(
        "--test-params",
        re.findall(r"(\w+)\s*=", options["test_params"] or ""),
        "write it into a file of settings that only you can read, and give that with --conf",
    )
    return with_parameters(settings, options["test_params"]) if options["test_params"] else settings


def native_study(
    project: Project, test: str, options: Mapping[str, Any], overrides: Mapping[str, Any]
) -> tuple[Study, tuple[str, ...]]:
    """Return the experiment that stands for a test of VSPERF, fitted to its site, and lines on what was left out there.

    What differs from VSPERF is printed on standard error.

    Raises:
        UsageError: there is no such test.
        ConfigurationError: a setting is not valid; the message has file and line.
        UnsupportedError: nfvbed lacks something that the test needs.
    """
    kind = VnfKind(options["vnf_kind"] or VnfKind.VM)
    selection = select(read_options(project, options), test, project, vnf_kind=kind)
    for line in lines_of_notes(selection.notes):
        click.echo(line, err=True)
    # VSPERF knows one machine: the lab.
    return fitted(project, lambda keys: study_of(selection, project, keys), overrides, own_site=lambda: USUAL_SITE)


def native_name(test: str) -> str:
    """Return the name of the experiment that a test of VSPERF becomes."""
    return name_of(test)
