"""The experiment of a gate: baseline, candidate and reference of one variant, in interleaved rounds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from nfvbed.compare.gating import BASELINE, CANDIDATE, LOOKS, REFERENCE, Estimand
from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.records import Record
from nfvbed.spec import boundedyaml
from nfvbed.spec.document import Document, is_misread
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study

OWN: Final = "own"
"""The variant as its file has it."""
PDR_LOOKS: Final = (8,)
"""A search takes so long that there is one look, with the whole level."""
PDR_TEST: Final = "pdr"
BUDGET_S: Final[Mapping[Estimand, float]] = {"mrr": 600.0, "pdr": 3600.0}
"""Where no other is given."""
FORM: Final = f"{OWN}, KEY=VALUE[,KEY=VALUE] of the variant's options, or the name of another variant of the data plane"


class OptionSet(Record):
    """One side of a gate: a variant's file and the options that differ from it."""

    text: str
    """The options as they were given."""
    variant: str
    options: dict[str, Any] = {}


class GateSpec(Record):
    """What a gate measures."""

    variant: str
    baseline: OptionSet
    candidate: OptionSet
    estimand: Estimand = "mrr"
    looks: tuple[int, ...] = Field(LOOKS, min_length=1)
    budget_s: float = Field(gt=0)
    topologies: tuple[str, ...] = ()
    """None: port to port."""
    frame_sizes: tuple[int | str, ...] = ()
    """None: 64 and 1518 B; of PDR 64 B alone."""
    site: str = "lab"


def read_option_set(text: str, variant: str, project: Project) -> OptionSet:
    """Read one side of a gate.

    Args:
        text: `own`, the name of a variant, or `KEY=VALUE[,KEY=VALUE]`; values are YAML, or text where the option takes
            that text and not what YAML makes of it (`release=3.10`).

    Raises:
        UsageError: it has none of these forms.
        ConfigurationError: there is no such variant.
    """
    if text == OWN:
        return OptionSet(text=text, variant=variant)
    if "=" not in text:
        if text in project.variant_names:
            return OptionSet(text=text, variant=text)
        raise UsageError(f"{text!r} is no side of a gate", fix=f"give {FORM}")
    fields = type(project.load_variant(variant).options).model_fields
    options: dict[str, Any] = {}
    for entry in text.split(","):
        key, separator, value = entry.partition("=")
        if not separator or not key.strip() or key.strip() in options:
            raise UsageError(f"{entry!r} is no option with a value, or is given twice", fix=f"give {FORM}")
        try:
            options[key.strip()] = _value(value, fields.get(key.strip()))
        except yaml.YAMLError as error:
            raise UsageError(f"the value of {entry!r} is not YAML", fix=f"give {FORM}") from error
        if is_misread(value.strip()) and not isinstance(options[key.strip()], str):
            raise UsageError(f"YAML reads the value of {entry!r} to another base", fix="write it without leading zeros")
    return OptionSet(text=text, variant=variant, options=options)


def _value(text: str, field: FieldInfo | None) -> Any:
    """Return an option's value as YAML reads it, or its text where the option takes that alone."""
    read = boundedyaml.load(text)
    if field is None or read is None or isinstance(read, str):
        return read
    kind: TypeAdapter[Any] = TypeAdapter(field.rebuild_annotation())
    for value in (read, text.strip()):
        try:
            kind.validate_python(value, strict=True)
        except ValidationError:
            continue
        return value
    return read


def study_of_gate(project: Project, spec: GateSpec) -> Study:
    """Return the experiment of a gate with its variants, checked as any other.

    Raises:
        ConfigurationError: options that the data plane does not have, or paths that the variant does not.
    """
    sides = {BASELINE: spec.baseline, CANDIDATE: spec.candidate, REFERENCE: spec.baseline}
    title = f"Gate of {spec.variant}: {spec.baseline.text} against {spec.candidate.text}"
    return _study(project, spec, {"name": "gate", "title": title}, sides)


def study_of_levels(project: Project, spec: GateSpec, others: Mapping[str, OptionSet]) -> Study:
    """Return the experiment of one question of a bisection: the baseline and others, in so many rounds.

    Args:
        spec: its looks are one, after all rounds; its candidate is not measured.
        others: options by the names that revisions have in the run.

    Raises:
        ConfigurationError: as `study_of_gate`.
    """
    title = f"Bisection of {spec.variant}: {', '.join(side.text for side in others.values())}"
    named = {"name": "bisection", "title": title, "ceilings": False}
    return _study(project, spec, named, {BASELINE: spec.baseline, **others})


def _study(project: Project, spec: GateSpec, named: Mapping[str, Any], sides: Mapping[str, OptionSet]) -> Study:
    data: dict[str, Any] = {
        **named,
        "site": spec.site,
        "purpose": "compare",
        "variants": list(sides),
        "baseline": BASELINE,
        "altered": {name: _altered(name, side) for name, side in sides.items()},
        "topologies": list(spec.topologies or ("p2p",)),
        "frame_sizes": list(spec.frame_sizes or ((64, 1518) if spec.estimand == "mrr" else (64,))),
        "trials": {"paced_duration_s": 0.05},
        "repetitions": {
            "looks": list(spec.looks),
            "needed": spec.looks[-1],
            "max_rounds": spec.looks[-1],
            "needed_ceilings": 3,
            "time_limit_s": spec.budget_s,
            "budget_s": spec.budget_s,
        },
    }
    if spec.estimand == "pdr":
        data["tests"] = [{"kind": "search", "preset": "csit-quick", "name": PDR_TEST}]
    study = project.study_of(Document(Path(f"{named['name']} of {spec.variant}"), data, {}))
    planes = {variant.name: variant.options.dataplane for variant in study.variants}
    other = next((name for name, plane in planes.items() if plane != planes[BASELINE]), None)
    if other is not None:
        raise ConfigurationError(
            f"a {named['name']} is of one data plane",
            where=f"{sides[BASELINE].text} and {sides[other].text}",
            observed=f"{planes[BASELINE]} and {planes[other]}",
            fix="compare data planes by an experiment: nfvbed run, nfvbed compare",
        )
    return study


def _altered(name: str, side: OptionSet) -> dict[str, Any]:
    words = "once more" if name == REFERENCE else ""
    return {
        "variant": side.variant,
        "title": " ".join(filter(None, (f"{side.variant}, {side.text}", words))),
        "options": side.options,
    }
