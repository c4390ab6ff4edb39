"""What there is to choose from on a site: the project's files, each with what it is unsupported for there."""

from collections.abc import Iterable, Mapping
from typing import Final

from nfvbed.compare.agreement import supports_of
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.jobs.records import State
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.results.coverage import by_length
from nfvbed.dashboard.results.doctor import printed
from nfvbed.dashboard.results.source import Source
from nfvbed.dashboard.starting.starting import Action, RunChoices
from nfvbed.errors import NfvbedError
from nfvbed.records import Readiness, Record, Support, VnfKind
from nfvbed.records.selection import MEASURED
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.loader import Project
from nfvbed.spec.site import SiteSpec
from nfvbed.store.summaries import Part

LOOKED_AT: Final = 50
"""Newest runs, and newest jobs, among which a doctor's report is looked for."""


class SelectableOption(Record):
    """An option of a choice, with the reason where it cannot be taken."""

    value: str
    text: str
    note: str = ""
    """What it is unsupported for, or why it cannot be chosen."""
    chosen: bool = False
    possible: bool = True
    """As far as it is known; what is not may be tried all the same, and is refused with the reason."""


class Choices(Record):
    """All that there is."""

    sites: tuple[SelectableOption, ...]
    variants: tuple[SelectableOption, ...]
    """Variants, the chosen ones first, then the possible ones."""
    vnfs: tuple[SelectableOption, ...]
    kinds: tuple[SelectableOption, ...]
    """Kinds of VNFs that the site may have."""
    flavors: tuple[SelectableOption, ...]
    experiments: tuple[SelectableOption, ...]
    topologies: tuple[str, ...]
    """Topologies that variants of the project have, the shortest first."""
    site_summary: str
    examined: str
    """When the site was examined; empty: never."""


class Experiments:
    """The project's experiments, read again when they change: together they take a second."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._kept: dict[str, tuple[tuple[int, int], Experiment]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all options, sorted."""
        return self._project.experiment_names

    def load(self, name: str) -> Experiment:
        """Return an experiment by its name; its file is read again where it has changed.

        Raises:
            ConfigurationError: its file is not valid, or gone.
        """
        try:
            file = self._project.experiment_file(name).stat()
        except FileNotFoundError:
            return self._project.load_experiment(name)
        # `variants: all` means whatever files of variants there are.
        changed = (file.st_mtime_ns, self._project.variants_folder.stat().st_mtime_ns)
        kept = self._kept.get(name)
        if kept is None or kept[0] != changed:
            kept = self._kept[name] = (changed, self._project.load_experiment(name))
        return kept[1]


def choices_of(operations: Operations, source: Source, experiments: Experiments, wanted: RunChoices) -> Choices:
    """Return what there is to choose from, with what is chosen.

    Raises:
        ConfigurationError: the site's or a variant's file is not valid.
    """
    project = operations.project
    site = project.load_site(wanted.site)
    supports, examined = _examined(source, operations.jobs, wanted.site)
    variants = (_variant(project, site, name, supports.get(name), wanted) for name in project.variant_names)
    named = dict.fromkeys(topology for name in project.variant_names for topology in _topologies(project, site, name))
    return Choices(
        sites=tuple(_site(project, name, chosen=name == wanted.site) for name in project.site_names),
        variants=tuple(sorted(variants, key=lambda one: (not one.chosen, not one.possible))),
        vnfs=tuple(_vnf(project, site, name, chosen=name == wanted.vnf) for name in project.vnf_names),
        kinds=tuple(SelectableOption(value=kind, text=kind, chosen=kind == wanted.kind) for kind in _kinds(site)),
        flavors=tuple(_flavor(project, name, chosen=name == wanted.flavor) for name in project.flavor_names),
        experiments=tuple(_experiment(experiments, name, supports, wanted) for name in experiments.names),
        topologies=tuple(sorted(named, key=by_length)),
        site_summary=site.summary,
        examined=examined,
    )


def _site(project: Project, name: str, *, chosen: bool) -> SelectableOption:
    try:
        return SelectableOption(value=name, text=f"{name}: {project.load_site(name).summary}", chosen=chosen)
    except NfvbedError as error:
        return SelectableOption(value=name, text=name, note=error.what, chosen=chosen, possible=False)


def _variant(
    project: Project, site: SiteSpec, name: str, support: Support | None, wanted: RunChoices
) -> SelectableOption:
    chosen = name in wanted.variants
    if site.only_variant is not None and name != site.only_variant:
        note = f"unsupported: site {site.name} takes {site.only_variant} alone"
        return SelectableOption(value=name, text=name, note=note, chosen=chosen, possible=False)
    try:
        variant = project.load_variant(name, site)
    except NfvbedError as error:
        return SelectableOption(value=name, text=name, note=error.what, chosen=chosen, possible=False)
    lacks = (site.lacks(wanted.topology) or variant.lacks(wanted.topology)) if wanted.topology else ""
    bad = support is not None and support.readiness is Readiness.UNSUPPORTED
    said = f"{support.readiness.value}: {support.reason}" if support is not None and support.reason else ""
    topologies = f"topologies: {', '.join(variant.topologies)}"
    return SelectableOption(
        value=name,
        text=f"{name}: {variant.title}",
        note="; ".join(part for part in (said, lacks, topologies) if part),
        chosen=chosen,
        possible=not bad and not lacks,
    )


def _topologies(project: Project, site: SiteSpec, name: str) -> Iterable[str]:
    try:
        return project.load_variant(name, site).topologies
    except NfvbedError:
        return ()  # The variant itself says what is wrong with it.


def _vnf(project: Project, site: SiteSpec, name: str, *, chosen: bool) -> SelectableOption:
    try:
        vnf = project.load_vnf(name)
    except NfvbedError as error:
        return SelectableOption(value=name, text=name, note=error.what, chosen=chosen, possible=False)
    only = site.only_vnf_kind
    possible = only is None or only in vnf.kinds
    kinds = f"kinds: {', '.join(kind.value for kind in vnf.kinds)}"
    note = (
        kinds
        if possible or only is None
        else f"unsupported: on site {site.name} VNFs are of kind {only.value}; {kinds}"
    )
    return SelectableOption(value=name, text=name, note=note, chosen=chosen, possible=possible)


def _kinds(site: SiteSpec) -> tuple[str, ...]:
    """Return the kinds of VNFs that a site may have."""
    only = site.only_vnf_kind
    return tuple(kind.value for kind in VnfKind if kind is not VnfKind.EXISTING) if only is None else (only.value,)


def _flavor(project: Project, name: str, *, chosen: bool) -> SelectableOption:
    try:
        found = project.load_flavor(name)
    except NfvbedError as error:
        return SelectableOption(value=name, text=name, note=error.what, chosen=chosen, possible=False)
    return SelectableOption(value=name, text=name, note=found.summary.rstrip("."), chosen=chosen)


def _experiment(
    experiments: Experiments, name: str, supports: Mapping[str, Support], wanted: RunChoices
) -> SelectableOption:
    chosen = name == wanted.experiment
    try:
        found = experiments.load(name)
    except NfvbedError as error:
        return SelectableOption(value=name, text=name, note=error.what, chosen=chosen, possible=False)
    names = found.variants
    bad = [one for one in names if one in supports and supports[one].readiness is Readiness.UNSUPPORTED]
    note = f"unsupported on {wanted.site}: {', '.join(bad)}" if bad else ""
    away = f"its site is {found.site}" if found.site != wanted.site else ""
    return SelectableOption(
        value=name,
        text=f"{name}: {found.title}",
        note="; ".join(part for part in (away, note) if part),
        chosen=chosen,
        possible=len(bad) < len(names),
    )


def _examined(source: Source, jobs: Jobs, site: str) -> tuple[Mapping[str, Support], str]:
    """Return the newest answers of the doctor on a site, and when it gave them."""
    found: list[tuple[str, Iterable[Support]]] = []
    runs, _ = source.store.runs_page(Part(limit=LOOKED_AT), MEASURED)
    for run in runs:
        if run.site == site and run.doctor_hash:
            found.append((run.started_at, supports_of(source.described(run.doctor_hash))))
            break
    for job in jobs.newest(LOOKED_AT):
        # One that failed has a report too, where no variant can be measured.
        if job.spec.site == site and job.spec.action == Action.EXAMINE and job.state in (State.DONE, State.FAILED):
            report = printed(jobs.output(job.spec.id))
            if report is not None:
                found.append((job.spec.asked_at, report.variants))
                break
    at, supports = max(found, key=lambda entry: entry[0], default=("", ()))
    return {support.variant: support for support in supports}, at[:19].replace("T", " ")
