"""Maps a test of VSPERF to an experiment of nfvbed, with all differences and all that is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nfvbed.errors import UnknownNameError, UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.spec.document import Document, KeyPath, dotted
from nfvbed.spec.layout import PARALLEL, SIDE_BY_SIDE, layout
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study
from nfvbed.spec.search import SearchSpec
from nfvbed.spec.validate import build, suggestion
from nfvbed.spec.variant import Variant
from nfvbed.vsperf.conf.accounting import account
from nfvbed.vsperf.conf.draft import Draft
from nfvbed.vsperf.conf.guest import map_guests
from nfvbed.vsperf.conf.jumbo import map_jumbo
from nfvbed.vsperf.conf.load import map_load
from nfvbed.vsperf.conf.modification import map_modification
from nfvbed.vsperf.conf.nics import require_cables
from nfvbed.vsperf.conf.placed import Note, Place
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings, VsperfSettings
from nfvbed.vsperf.conf.steps import KEYWORD, MissingStepError, without_steps
from nfvbed.vsperf.conf.switch import NONE, map_switch
from nfvbed.vsperf.conf.testcase import TestCase
from nfvbed.vsperf.conf.testids import SWITCH_OF, TEST_IDS, TestKind, topology_of
from nfvbed.vsperf.conf.traffic import map_frame_sizes, map_kind, map_traffic, map_trials
from nfvbed.vsperf.conf.treatment import Relevance
from nfvbed.vsperf.conf.tunnel import ONE_END

OTHERWISE: Final = ("choose another test, or run this one with VSPERF itself: nfvbed run --driver vsperf",)
NAME_PREFIX: Final = "vsperf-"
MAX_NAME: Final = 41
"""Characters of an experiment's name."""


@dataclass(frozen=True)
class Selection:
    """A test of VSPERF, mapped."""

    test: str
    """Its ID."""
    title: str
    kind: TestKind
    topology: str | None
    """None: nfvbed has no such path; `missing` says so."""
    experiment: Mapping[str, Any]
    """As an experiment's file would hold it; whole only where nothing is missing."""
    variant_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the variants that differ from their files: `{"pmd_cores": 2}`."""
    nics: tuple[str, ...] = ()
    """PCI addresses of the switch's outer ports, which the site's cables must lead to; none: they are virtual."""
    search: SearchSpec | None = None
    """Search of a throughput test; None: the test is another one."""
    notes: tuple[Note, ...] = ()
    """What differs from VSPERF, and what of all settings that hold for the test is not used."""
    missing: tuple[str, ...] = ()
    """What nfvbed lacks for it; empty: it can be run."""
    advice: tuple[str, ...] = ()
    """What can be done about it."""
    place: Place | None = None
    """Where the test is defined; None: it is VSPERF's own definition, known to nfvbed."""
    origins: Mapping[KeyPath, tuple[str, Place | None]] = field(default_factory=dict)
    """Key of the experiment: the setting that it comes from, and its place."""


def known_tests(settings: VsperfSettings) -> tuple[str, ...]:
    """Return the IDs of all tests: those of the files that were read, then the other known ones."""
    own = [case.name for case in settings.tests]
    return (*own, *(name for name in TEST_IDS if name not in own))


def select(
    settings: VsperfSettings,
    test: str,
    project: Project,
    *,
    vnf_kind: VnfKind = VnfKind.VM,
) -> Selection:
    """Return a test of VSPERF, mapped to an experiment.

    Args:
        settings: as read; a test that they define counts as defined there.
        test: its ID.
        project: with the variants and flavors.
        vnf_kind: VSPERF's VNFs are virtual machines; another kind is noted as a difference.

    Raises:
        UnknownNameError: there is no such test; with the nearest ID.
        ConfigurationError: a setting of it is not valid; with file and line.
    """
    (case, *further), missing_step = _without_steps(_case(settings, test))
    title = f"VSPERF {test}: {case.description or 'no description'}"
    # VSPERF has one trial of the given length, and compares nothing.
    one_trial = {"purpose": "survey", "trials": {"mrr_trials": 1}}
    draft = Draft(test, experiment={"name": name_of(test), "title": title, **one_trial})
    if missing_step:
        steps = SettingValue(KEYWORD, case.keywords[KEYWORD], case.place_of(KEYWORD))
        draft.lacks(f"a step has no equivalent: {missing_step}", steps)
    topology = _topology(draft, case)
    own = settings.for_test(case, layout(topology).vnfs if topology else 0)
    kind = map_kind(draft, own.require("TRAFFIC"))
    _unknown_parts(draft, case)
    switch = map_switch(draft, own, project, case)
    map_modification(draft, case, switch, topology)
    map_load(draft, own, case)
    matters = frozenset((Relevance.ALWAYS,))
    search = _map(draft, own, kind, topology)
    if topology and layout(topology).vnfs:
        matters |= map_guests(draft, own, VnfKind.CONTAINER if case.kubernetes else vnf_kind, project)
    for again in further:
        _sent_again(draft, settings.for_test(again, layout(topology).vnfs if topology else 0))
    account(draft, own, matters, switch.vswitch if switch else NONE)
    return Selection(
        test=test,
        title=case.description,
        kind=kind,
        topology=topology,
        experiment=draft.experiment,
        variant_options=draft.variant_options,
        nics=draft.nics,
        search=search,
        notes=tuple(draft.notes),
        missing=tuple(dict.fromkeys(draft.missing)),
        advice=_advice(draft),
        place=case.place,
        origins=draft.origins,
    )


def _advice(draft: Draft) -> tuple[str, ...]:
    """Return advice on what is missing; last, how refused settings get VSPERF's defaults."""
    known = {name: value for name, value in draft.defaults.items() if value is not None}
    resets = "; ".join(f"{name}={value!r}" for name, value in known.items())
    left_out = [name for name in draft.defaults if name not in known]
    advice = [*draft.advice, *(f"leave {name} out" for name in left_out)]
    return tuple(dict.fromkeys([*advice, *([f'take VSPERF\'s defaults: --test-params "{resets}"'] if known else [])]))


def _case(settings: VsperfSettings, test: str) -> TestCase:
    case = settings.test(test) or (TEST_IDS[test].case(test) if test in TEST_IDS else None)
    if case is None:
        raise UnknownNameError(
            f"there is no VSPERF test {test!r}",
            where=", ".join(str(file) for file in settings.files) or "the IDs that nfvbed knows",
            observed=repr(test),
            fix=suggestion(test, known_tests(settings)),
        )
    return case


def _without_steps(case: TestCase) -> tuple[tuple[TestCase, ...], str]:
    """Return a test as those of the deployment that it is sent on; or as it is, with the step without an equivalent."""
    try:
        return without_steps(case), ""
    except MissingStepError as failure:
        return (case,), str(failure)


def _sent_again(draft: Draft, own: TestSettings) -> None:
    """Add the test of further traffic on the same path, which differs from the first in its type alone."""
    experiment = draft.experiment
    other = Draft(draft.test, experiment={"frame_sizes": experiment["frame_sizes"]})
    map_trials(other, own, map_kind(other, own.require("TRAFFIC")))
    experiment["tests"] = [*experiment.get("tests", ()), *other.experiment.get("tests", ())]
    experiment["trials"].update(other.experiment.get("trials", {}))
    mine, more = experiment["repetitions"], other.experiment["repetitions"]
    both = {name: max(part[name] for part in (mine, more) if name in part) for name in {*mine, *more}}
    experiment["repetitions"] = {**both, "time_limit_s": mine["time_limit_s"] + more["time_limit_s"]}
    for name in ("notes", "missing", "advice"):
        found = getattr(draft, name)
        found += [line for line in getattr(other, name) if line not in found]
    draft.defaults.update(other.defaults)
    draft.origins.update({key: place for key, place in other.origins.items() if key not in draft.origins})


def _topology(draft: Draft, case: TestCase) -> str | None:
    found = SettingValue("Deployment", case.deployment, case.place_of("Deployment"))
    topology = topology_of(case.deployment, case.kubernetes)
    if topology is None:
        draft.lacks(f"there is no such path{_no_path(case)}", found)
        return None
    draft.put("topologies", [topology], found)
    return topology


def _no_path(case: TestCase) -> str:
    """Return what it is about a deployment that nfvbed does not have, as the rest of a sentence."""
    if case.deployment.startswith(ONE_END):
        return ": frames are encapsulated on one side of the switch, and nfvbed's tunnels begin and end in switches"
    if case.deployment.startswith(PARALLEL):
        return f": {', '.join(map(str, SIDE_BY_SIDE))} VNFs are side by side, as rules share flows out by bits"
    return ""


def _map(draft: Draft, own: TestSettings, kind: TestKind, topology: str | None) -> SearchSpec | None:
    traffic = own.require("TRAFFIC")
    map_traffic(draft, traffic, topology or "p2p")
    map_frame_sizes(draft, own, traffic)
    map_jumbo(draft, own)
    return map_trials(draft, own, kind)


def _unknown_parts(draft: Draft, case: TestCase) -> None:
    """Report the keywords that ask for what nfvbed does not do."""
    for keyword, text in (("Tunnel Operation", "the ends of a tunnel are both in the switch, never in the generator"),):
        if case.keywords.get(keyword):
            draft.lacks(text, SettingValue(keyword, case.keywords[keyword], case.place_of(keyword)))
    for keyword, text in (("Collector", "nfvbed accounts CPU time in every trial itself"),):
        if keyword in case.keywords:
            draft.unused(SettingValue(keyword, case.keywords[keyword], case.place_of(keyword)), text)


def name_of(test: str) -> str:
    """Return the name of a test's experiment."""
    slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in test.lower())
    return (NAME_PREFIX + slug)[:MAX_NAME].rstrip("-")


def require_native(selection: Selection) -> None:
    """Refuse a test that nfvbed cannot run as VSPERF does.

    Raises:
        UnsupportedError: with everything that is missing.
    """
    if selection.missing:
        raise UnsupportedError(
            f"the VSPERF test {selection.test} has no native equivalent here",
            where=str(selection.place) if selection.place else f"test ID {selection.test}",
            observed=_listed(selection.missing),
            fix=_listed([*selection.advice, *OTHERWISE]),
        )


def _listed(texts: Sequence[str]) -> str:
    """Return texts, one a line."""
    return "\n    ".join(texts)


@dataclass(frozen=True)
class SelectedDocument(Document):
    """The experiment of a selection; places are those of VSPERF's settings."""

    origins: Mapping[KeyPath, tuple[str, Place | None]] = field(default_factory=dict)
    test: str = ""

    def where(self, key: Sequence[str | int] = ()) -> str:
        """Return the setting that a key comes from, with its file and line."""
        path = tuple(key)
        if any(path[:length] in self.overridden for length in range(1, len(path) + 1)):
            return f"command line, {dotted(path)}"
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                name, place = self.origins[path[:length]]
                return f"{place} {name}" if place else f"test {self.test}: {name} (VSPERF's default)"
        return f"test {self.test}"


def study_of(selection: Selection, project: Project, overrides: Mapping[str, Any] | None = None) -> Study:
    """Check a selection like an experiment's file, and load the files that it names.

    Args:
        project: with variants, VNFs, flavors and sites.
        overrides: dotted keys of the experiment with the values that the command line gives them.

    Raises:
        UnsupportedError: something that the test needs is missing.
        ConfigurationError: with file and line of the setting, or `command line`.
    """
    require_native(selection)
    document = SelectedDocument(
        path=selection.place.path if selection.place else Path(selection.test),
        data=dict(selection.experiment),
        places={},
        origins=selection.origins,
        test=selection.test,
    )
    study = project.study_of(document, overrides)
    on_nics = {switch.on_nics for switch in SWITCH_OF.values()}
    if any(variant.name in on_nics for variant in study.variants) and selection.nics:
        require_cables(selection.nics, study.site, f"test {selection.test}")
    if not selection.variant_options:
        return study
    return Study(
        study.experiment,
        tuple(_with_options(variant, selection) for variant in study.variants),
        study.site,
        study.choices,
    )


def _with_options(variant: Variant, selection: Selection) -> Variant:
    """Return a variant with the options that the test asks for; options that it lacks stay with the others."""
    known = {key: value for key, value in selection.variant_options.items() if hasattr(variant.options, key)}
    data = variant.model_dump(mode="json")
    changed = {**data, "options": {**data["options"], **known}}
    return build(Document(Path(f"VSPERF test {selection.test}"), changed, {}), type(variant))
