"""An experiment as it is measured on its site: what does not apply there is left out, and said."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from nfvbed.errors import UnsupportedError
from nfvbed.plan.fitted import OnboardedPath, SiteState, fit_to_site
from nfvbed.sites.catalogue import open_site
from nfvbed.spec.choices import use_of
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study


def load_on_site(project: Project, name: str, overrides: Mapping[str, Any]) -> tuple[Study, tuple[str, ...]]:
    """Load an experiment, fitted to the site that the command line names; return lines that say what was left out.

    Raises:
        ConfigurationError: as `Project.load_study`.
    """
    return fitted(
        project, lambda keys: project.load_study(name, keys), overrides, own_site=lambda: project.own_site_of(name)
    )


def fitted(
    project: Project,
    study_with: Callable[[Mapping[str, Any]], Study],
    overrides: Mapping[str, Any],
    own_site: Callable[[], str],
) -> tuple[Study, tuple[str, ...]]:
    """Return a study fitted to its site, and lines that say what was left out.

    Args:
        study_with: returns the study with the values that keys of its experiment are to have.
        overrides: what the command line gives them.
        own_site: returns the name of the site that the experiment is written for, for which nothing is left out.
    """
    study = study_with(overrides)
    if study.simulated or not study.site.has_nova or own_site() == study.site.name:
        return study, ()
    changed, notes = fit_to_site(study, overrides.keys(), _state(study, project.root))
    return (study_with({**overrides, **changed}) if changed else study), notes


def show_left_out(study: Study, notes: tuple[str, ...]) -> None:
    """Print on standard error what an experiment leaves out on its site."""
    for note in notes:
        click.echo(f"on site {study.site.name}: {note}", err=True)


def _state(study: Study, root: Path) -> SiteState:
    """Return what is on the site, by what is written down of it; where nothing runs, the plan says why."""
    try:
        site = open_site(study.site, root)
        found = site.find_deployed()
    except UnsupportedError:
        return SiteState()
    path = None
    if found is not None and found.vnf is not None:
        path = OnboardedPath(found.variant.name, found.deployment.topology, use_of(found.vnf))
    return SiteState(site.standing_variants(), path)
