"""Checks a proposed command as the real one is checked: with the same options, files and plan."""

import shlex

import click

from nfvbed.cli.overrides import collect
from nfvbed.cli.plan import incomplete_checksums
from nfvbed.cli.run import command as run_verb
from nfvbed.cli.study_on_site import load_on_site
from nfvbed.compare.recommendation.recommendation import Measures
from nfvbed.errors import NfvbedError
from nfvbed.plan.plan import expand
from nfvbed.records import CellRole
from nfvbed.spec.loader import Project


def measures_in(project: Project) -> Measures:
    """Return a function from a `nfvbed run` to the cells of variants that it measures; none where it is refused."""

    def measures(text: str) -> frozenset[str]:
        program, verb, *words = shlex.split(text)
        assert (program, verb) == ("nfvbed", "run"), text
        try:
            parameters = run_verb.make_context(verb, words).params
            study, _ = load_on_site(project, parameters["experiment"], collect(parameters))
            plan = expand(study.experiment, study.variants, study.choices)
            incomplete_checksums(plan, study)
        except (NfvbedError, click.ClickException):
            return frozenset()
        return frozenset(cell.id for cell in plan.cells if cell.role is CellRole.SUBJECT)

    return measures
