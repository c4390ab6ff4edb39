"""What a stored run was begun with, and the cells of it that it never came to."""

from collections.abc import Mapping, Sequence
from typing import Any

from nfvbed.errors import NotComparableError
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.plan import expand
from nfvbed.records import CellRecord, RunRecord, Sessions, Status
from nfvbed.records.models import adapter_of
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study
from nfvbed.spec.site import AnySite, SiteSpec
from nfvbed.spec.validate import RENAMED
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice


def stored_study(plan: Mapping[str, Any], variant_model: type[Variant]) -> tuple[Study, tuple[str, ...]]:
    """Return the study that a run was begun with; its files, and the meaning of a key, may have changed since.

    Args:
        plan: the run's plan, as it is stored.
        variant_model: the model of variants, with the options of all data planes that there are.
    """
    experiment = Experiment.model_validate(_as_meant(plan["experiment"]))
    variants = tuple(variant_model.model_validate(_as_named(one)).as_asked() for one in plan["variants"])
    choices = {
        (entry["variant"], entry["choice"]["label"]): VnfChoice.model_validate(entry["choice"])
        for entry in plan.get("choices", ())
    }
    site: SiteSpec = adapter_of(AnySite).validate_python(plan["site"])
    return Study(experiment, variants, site, choices), tuple(plan["runnable"])


def require_own_commands(study: Study, project: Project) -> None:
    """Refuse to go on with commands that a store has and no file of the project: a store may be of another user.

    Args:
        study: as it is stored.

    Raises:
        NotComparableError: a variant's commands are not those of its file; with the options that differ.
    """
    for variant in study.variants:
        fields = variant.options.command_fields
        if not fields:
            continue
        change = study.experiment.altered.get(variant.name)
        name = variant.name if change is None else change.variant
        own = project.load_variant(name).options
        differing = sorted(field for field in fields if getattr(own, field, None) != getattr(variant.options, field))
        if differing:
            raise NotComparableError(
                f"the commands of variant {variant.name} are not those of its file, so they are not run",
                where=f"deploy/variants/{name}.yml, options",
                observed=f"the run has another {', '.join(differing)}",
                fix=f"begin a new run: nfvbed run {study.experiment.name}",
            )


def _as_meant(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """Return an experiment from before plans of format 3 as it was meant: one trial at maximum load in each repetition.

    It was enough to have the repetitions that were asked for; there were no looks and no common load.
    """
    # Before there was a choice neither direction answered the other.
    traffic = {"sessions": Sessions.UNREPLIED.value, **experiment.get("traffic", {})}
    experiment = {**experiment, "traffic": traffic}
    if "purpose" in experiment:
        return dict(experiment)
    trials = {"mrr_trials": 1, **experiment.get("trials", {})}
    return {**experiment, "purpose": "survey", "trials": {"mrr_duration_s": 0.5, **trials}}


def _as_named(variant: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored variant with its options called as they are now."""
    options = {RENAMED.get(key, key): value for key, value in variant["options"].items()}
    return {**variant, "options": options}


def never_reached(
    run: RunRecord, plan: Mapping[str, Any], cells: Sequence[CellRecord], variant_model: type[Variant]
) -> tuple[CellRecord, ...]:
    """Return the planned cells that have no row: the run ended, or was interrupted, before their first trial.

    A cell has no row before it is deployed, as the row holds what was under test then; readers must not miss it.

    Args:
        plan: the run's plan as stored; one of another form (VSPERF's) has no such cells.
        cells: those that have a row.
        variant_model: the model of variants, with the options of all data planes that there are.
    """
    if "runnable" not in plan or run.status is Status.OK:
        return ()
    study, runnable = stored_study(plan, variant_model)
    known = {cell.id for cell in cells}
    variants = [variant for variant in study.variants if variant.name in runnable]
    missing = [cell for cell in expand(study.experiment, variants, study.choices).cells if cell.id not in known]
    return tuple(_unreached(run, cell, simulated=study.simulated) for cell in missing)


def _unreached(run: RunRecord, cell: CellPlan, *, simulated: bool) -> CellRecord:
    ended = (
        f"the run ended {run.status.value} before it: {run.reason}" if run.status else "the run has not come to it yet"
    )
    status = Status.BLOCKED if run.status in (None, Status.OK, Status.UNSUPPORTED) else run.status
    return CellRecord(
        **cell.recorded,
        run=run.id,
        config_hash="",
        rig_hash="",
        simulated=simulated,
        status=status,
        reason=ended.removesuffix(": "),
    )
