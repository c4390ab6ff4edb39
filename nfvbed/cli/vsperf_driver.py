"""`nfvbed run --driver vsperf`: a test through the user's own VSPERF."""

import json
from collections.abc import Mapping
from typing import Any

import click

from nfvbed.errors import UnsupportedError, UsageError
from nfvbed.records import RunRecord
from nfvbed.spec.loader import Project
from nfvbed.spec.site import HostSiteSpec
from nfvbed.store import Store
from nfvbed.vsperf.conf import read_settings, with_parameters
from nfvbed.vsperf.conf.guest import VNF
from nfvbed.vsperf.driver.configuration import find_case
from nfvbed.vsperf.driver.driver import run_vsperf
from nfvbed.vsperf.driver.installation import find_vsperf
from nfvbed.vsperf.driver.request import OWN_GENERATOR, Request, check_release, check_request, planned


def make_request(project: Project, test: str, options: Mapping[str, Any], overrides: Mapping[str, Any]) -> Request:
    """Read the settings, VSPERF's own first, and find VSPERF and the test.

    Raises:
        PrerequisiteError: there is no VSPERF that starts.
        UsageError: there is no such test, or options have nothing to act on.
        ConfigurationError, UnsupportedError: as `check_request`.
    """
    if overrides:
        raise UsageError(
            "VSPERF knows no experiment's keys",
            observed=", ".join(sorted(overrides)),
            fix="say it in VSPERF's words: --test-params 'TRAFFICGEN_PKT_SIZES=(64,)'",
        )
    installation = find_vsperf()
    own = options["conf"] or [project.root / "vsperf-conf"]
    stock = installation.configuration
    settings, of_its_own = (read_settings([stock, *more], installed=stock) for more in (own, ()))
    check_release(of_its_own)
    if options["test_params"]:
        settings = with_parameters(settings, options["test_params"])
    request = Request(
        installation=installation,
        settings=settings,
        case=find_case(settings, of_its_own, test),
        trafficgen=options["trafficgen"] or OWN_GENERATOR,
        site=_host(project),
        root=project.root,
        vnf=project.load_vnf(VNF),
    )
    check_request(request)
    return request


def _host(project: Project) -> HostSiteSpec:
    """Return the site whose machine VSPERF runs on.

    Raises:
        UnsupportedError: the site is no machine.
    """
    site = project.load_site("lab")
    if site.host is None:
        raise UnsupportedError(
            "VSPERF runs on this machine alone", where=f"site {site.name}", observed=f"it is of kind {site.kind}"
        )
    return site.host


def show_request(request: Request, as_json: bool) -> None:
    """Print what would be run, without running it."""
    document = planned(request)
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    for name, value in document.items():
        click.echo(f"{name}: {value}")


def run_request(request: Request, store: Store) -> RunRecord:
    """Run the requested test."""
    return run_vsperf(request, store, lambda text: click.echo(text, err=True))
