"""Reads the user's files, once each, into frozen models that fit together."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from nfvbed.errors import ConfigurationError, UnknownNameError, UnsupportedError
from nfvbed.spec import choices, machinerules, rules
from nfvbed.spec.corenetwork import DEFAULT_NETWORK, SETTINGS
from nfvbed.spec.document import Document, KeyPath, read_document
from nfvbed.spec.experiment import ALL, BEST, AlteredVariant, Experiment
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.spec.root import find_root
from nfvbed.spec.rules import Study
from nfvbed.spec.site import AnySite, SiteSpec
from nfvbed.spec.validate import build, build_one_of, suggestion
from nfvbed.spec.variant import Variant, VariantFile
from nfvbed.spec.vnf import VnfSpec

Named = TypeVar("Named", Experiment, Flavor, KollaReleaseSpec)
VNF_FILE = "vnf.yml"
SEEDS = "seeds"
"""Folder of the experiments that are after published ones, below that of all others."""


class Project:
    """The data folders below one root, whose files are read into models.

    Args:
        root: the folder that holds `deploy/`, `vnfd/`, `flavors/` and `vsperf-conf/`; None: found as `find_root` says.
        variant_file_model: the model of variants' files, with the options of all data planes.
        variant_model: the model of variants to which a site's generator is attached.
    """

    def __init__(self, root: Path | None, variant_file_model: type[VariantFile], variant_model: type[Variant]) -> None:
        self.root = find_root(root)
        self._variant_file_model = variant_file_model
        self._variant_model = variant_model
        self.variants_folder = self.root / "deploy" / "variants"
        self.sites_folder = self.root / "deploy" / "sites"
        self.experiments_folder = self.root / "vsperf-conf" / "experiments"
        self.vnfs_folder = self.root / "vnfd"
        self.flavors_folder = self.root / "flavors"
        self.kolla_releases_folder = self.root / "kolla" / "releases"
        self._vnf_files: dict[str, Path] = {}
        self.own_flavors: Mapping[str, Flavor] = {}

    @cached_property
    def variant_names(self) -> tuple[str, ...]:
        """Names of all variants, sorted."""
        return _names(self.variants_folder)

    @cached_property
    def site_names(self) -> tuple[str, ...]:
        """Names of all sites, sorted."""
        return _names(self.sites_folder)

    @cached_property
    def vnf_names(self) -> tuple[str, ...]:
        """Names of all VNFs (their folders' names), sorted."""
        return tuple(sorted(path.parent.name for path in self.vnfs_folder.glob(f"*/{VNF_FILE}")))

    def vnf_file(self, name: str) -> Path:
        """Return the file of a VNF, whether it is there or not."""
        return self._vnf_files.get(name, self.vnfs_folder / name / VNF_FILE)

    def require_usual_network(self, vnf: VnfSpec) -> None:
        """Refuse a mobile core whose guests' image is made for another network; processes take any.

        Raises:
            UnsupportedError: it is another one; with the line that says so.
        """
        if not isinstance(vnf, MachinesVnfSpec) or vnf.network is None:
            return
        names = [one.name for one in vnf.machines]
        setting = next(key for key in SETTINGS if getattr(vnf.network, key) != getattr(DEFAULT_NETWORK, key))
        wanted, has = getattr(vnf.network, setting), getattr(DEFAULT_NETWORK, setting)
        machine, word = SETTINGS[setting]
        raise UnsupportedError(
            f"guests of VNF {vnf.name} cannot serve this network",
            where=read_document(self.vnf_file(vnf.name)).where(("machines", names.index(machine), "config", word)),
            observed=f"{setting} {wanted}; their image has {setting} {has} alone",
            fix=f'{word}: "{has}"; or kind process, which serves any network',
        )

    def with_vnf_file(self, path: Path) -> tuple[Self, str]:
        """Return a project that has the VNF of a file too, and its name; one in `vnfd` is there already.

        Raises:
            ConfigurationError: the file is not valid.
        """
        if path.name == VNF_FILE and path.resolve().parent.parent == self.vnfs_folder.resolve():
            return self, path.resolve().parent.name
        document = read_document(path)
        vnf = self._vnf(document)
        found = copy(self)
        found._vnf_files = {**self._vnf_files, vnf.name: path}
        return found, vnf.name

    @property
    def flavor_names(self) -> tuple[str, ...]:
        """Names of all flavors, sorted."""
        return tuple(sorted((*_names(self.flavors_folder), *self.own_flavors)))

    def _with_flavors(self, document: Document, flavors: Sequence[Flavor]) -> Self:
        """Return a project that has the flavors of an experiment too.

        Raises:
            ConfigurationError: a name is that of a file.
        """
        taken = _names(self.flavors_folder)
        for index, flavor in enumerate(flavors):
            if flavor.name in taken:
                raise ConfigurationError(
                    f"{flavor.name!r} is a flavor of its own",
                    where=document.where(("flavors", index, "name")),
                    observed=f"{flavor.name}.yml in {self.flavors_folder.name}",
                    fix="give the experiment's flavor another name",
                )
        found = copy(self)
        found.own_flavors = {flavor.name: flavor for flavor in flavors}
        return found

    @cached_property
    def kolla_release_names(self) -> tuple[str, ...]:
        """Names of all release profiles of kolla-ansible, sorted."""
        return _names(self.kolla_releases_folder)

    @cached_property
    def experiment_names(self) -> tuple[str, ...]:
        """Names of all experiments, sorted, those of the seeds among them."""
        return tuple(sorted({*_names(self.experiments_folder), *_names(self.experiments_folder / SEEDS)}))

    def experiment_file(self, name: str) -> Path:
        """Return the file of an experiment.

        Raises:
            ConfigurationError: unknown, with the nearest name.
        """
        _require(self.experiments_folder, name, "experiment", self.experiment_names)
        own = self.experiments_folder / f"{name}.yml"
        return own if own.is_file() else self.experiments_folder / SEEDS / own.name

    def load_experiment(self, name: str) -> Experiment:
        """Load one experiment alone: the files that it names are not read.

        Raises:
            ConfigurationError: unknown (with the nearest name), or its file is not valid.
        """
        document = read_document(self.experiment_file(name))
        return build(self._with_all(document), Experiment)

    def list_variants(self, site: SiteSpec | None = None) -> list[Variant]:
        """Load all variants, as `load_variant` does.

        Raises:
            ConfigurationError: one of the files is not valid.
        """
        return [self.load_variant(name, site) for name in self.variant_names]

    def load_variant(self, name: str, site: SiteSpec | None = None) -> Variant:
        """Load one variant.

        Args:
            site: the site whose generator attaches to it; None: any that asks for nothing.

        Raises:
            ConfigurationError: unknown (with the nearest name), or its file is not valid.
        """
        document = read_document(self._file(self.variants_folder, name, "variant"))
        variant = self._attached(document, site)
        rules.name_is_the_files_name(document, variant.name)
        return variant

    def _attached(self, document: Document, site: SiteSpec | None, named: str = "") -> Variant:
        declared = build(rules.without_port_kind(document), self._variant_file_model)
        rules.port_kind_is_the_sites(document, declared)
        kind = site.generator_port_kind(declared, named) if site else declared.options.port_kinds[0]
        return self._variant_model(**dict(declared), port_kind=kind)

    def load_site(self, name: str) -> SiteSpec:
        """Load one site.

        Raises:
            ConfigurationError: unknown (with the nearest name), or its file is not valid.
        """
        if name not in self.site_names:
            self._refuse_a_kind(name)
        document = read_document(self._file(self.sites_folder, name, "site"))
        site: SiteSpec = build_one_of(document, AnySite)
        rules.name_is_the_files_name(document, site.name)
        for key, named in site.named_variants.items():
            rules.variants_are_known(document, key, named, self.variant_names)
        return site.in_project(self.root)

    def load_vnf(self, name: str) -> VnfSpec:
        """Load one VNF from `vnfd/<name>/vnf.yml`, and check that its flavor is there.

        A VNF of several machines is a `MachinesVnfSpec`, whose parts are checked to fit together.

        Raises:
            ConfigurationError: unknown (with the nearest name), or its file is not valid.
        """
        if name not in self._vnf_files:
            _require(self.vnfs_folder, name, "VNF", self.vnf_names)
        document = read_document(self.vnf_file(name))
        vnf = self._vnf(document)
        if name not in self._vnf_files:
            rules.name_is_the_folders_name(document, vnf.name)
        return vnf

    def _vnf(self, document: Document) -> VnfSpec:
        vnf = build(document, MachinesVnfSpec if "machines" in document.data else VnfSpec)
        rules.names_are_known(document, "flavor", [vnf.flavor], self.flavor_names)
        if isinstance(vnf, MachinesVnfSpec):
            machinerules.require(document, vnf, self.flavor_names)
        return vnf

    def load_flavor(self, name: str) -> Flavor:
        """Load one flavor.

        Raises:
            ConfigurationError: unknown (with the nearest name), or its file is not valid.
        """
        if name in self.own_flavors:
            return self.own_flavors[name]
        return _load(self._file(self.flavors_folder, name, "flavor"), Flavor)

    def load_kolla_release(self, name: str) -> KollaReleaseSpec:
        """Load one release profile of kolla-ansible, and check that the releases that it names are there.

        Raises:
            ConfigurationError: unknown (with the nearest name), or its file is not valid.
        """
        path = self._file(self.kolla_releases_folder, name, "release")
        release = _load(path, KollaReleaseSpec)
        if release.planes_as is not None:
            known = self.kolla_release_names
            rules.release_is_known(read_document(path), ("planes_as",), release.planes_as, known)
        return release

    def load_study(self, name_or_path: str | Path, overrides: Mapping[str, Any] | None = None) -> Study:
        """Load an experiment with its variants, its VNFs and its site, and check that they fit together.

        Args:
            name_or_path: a name in `vsperf-conf/experiments`, or the path of a file.
            overrides: dotted keys of the experiment with the values that the command line gives them.

        Raises:
            ConfigurationError: with file, line, key, what was seen and what would be right.
        """
        document = read_document(self._experiment_path(name_or_path))
        asked = self._with_all(_overridden(document, overrides or {}))
        rules.name_is_the_files_name(document, build(asked, Experiment).name)
        return self.study_of(document, overrides)

    def own_site_of(self, name_or_path: str | Path) -> str:
        """Return the name of the site that an experiment's file is written for.

        Raises:
            ConfigurationError: the file cannot be read.
        """
        return build(self._with_all(read_document(self._experiment_path(name_or_path))), Experiment).site

    def study_of(self, document: Document, overrides: Mapping[str, Any] | None = None) -> Study:
        """Check an experiment, wherever it is written, with what it names; its name need not be a file's.

        Args:
            document: the experiment's keys and their places.
            overrides: as for `load_study`.

        Raises:
            ConfigurationError: with file, line, key, what was seen and what would be right.
        """
        document = self._with_all(_overridden(document, overrides or {}))
        experiment = build(document, Experiment)
        rules.names_are_known(document, "variants", experiment.variants, (*self.variant_names, *experiment.altered))
        rules.names_are_known(document, "site", [experiment.site], self.site_names)
        site = self.load_site(experiment.site)
        altered = {name: self._altered(document, name, change, site) for name, change in experiment.altered.items()}
        variants = tuple(altered.get(name) or self.load_variant(name, site) for name in experiment.variants)
        rules.simulated_is_not_mixed_with_real(document, variants)
        rules.topologies_are_offered(document, experiment, variants)
        rules.frames_hold_their_headers(document, experiment)
        rules.flows_reach_every_vnf(document, experiment)
        rules.core_tests_have_a_core(document, experiment)
        files = {name: change.variant for name, change in experiment.altered.items()}
        catalogue = self._with_flavors(document, experiment.flavors)
        catalogue._check_vnfs(document, experiment, {files.get(v.name, v.name): v for v in variants})
        experiment = choices.with_forwarding(experiment, catalogue)
        found = choices.resolve_all(experiment, variants, catalogue)
        experiment = rules.with_sessions(experiment, variants)
        rules.replies_come_back(document, experiment, found.values())
        rules.ues_fit_the_core(document, experiment, found.values())
        rules.frames_pass_every_path(experiment, variants, found)
        return Study(experiment, variants, site, found)

    def _with_all(self, document: Document) -> Document:
        """Replace `all` by the names of all real variants."""
        if not isinstance(document.data, dict) or document.data.get("variants") != ALL:
            return document
        names = [variant.name for variant in self.list_variants() if not variant.options.is_simulated]
        return replace(document, data={**document.data, "variants": names})

    def _altered(self, document: Document, name: str, change: AlteredVariant, site: SiteSpec) -> Variant:
        """Return a variant with some options changed, under the name that an experiment gives it.

        Raises:
            ConfigurationError: its name is taken, or the options are none of that data plane's.
        """
        key = ("altered", name)
        if name in self.variant_names:
            raise ConfigurationError(
                f"{name!r} is a variant of its own",
                where=document.where(key),
                observed=f"{name}.yml in {self.variants_folder.name}",
                fix="give the altered variant another name",
            )
        rules.names_are_known(document, "altered", [change.variant], self.variant_names)
        file = read_document(self._file(self.variants_folder, change.variant, "variant"))
        options = {**file.data["options"], **change.options}
        data = {**file.data, "name": name, "title": change.title, "options": options}
        try:
            written = _without(file.written, [("name",), ("title",), *(("options", key) for key in change.options)])
            return self._attached(replace(file, data=data, written=written), site, change.variant)
        except ConfigurationError as failure:
            raise ConfigurationError(
                f"the altered variant {name!r} is not valid: {failure.what}",
                where=document.where(key),
                observed=failure.observed,
                fix=failure.fix,
            ) from failure

    def _check_vnfs(self, document: Document, experiment: Experiment, variants: Mapping[str, Variant]) -> None:
        """Check the VNFs of an experiment and those of its variants, which are given by the names of their files."""
        for key, use in choices.uses_of(experiment):
            choices.use_is_possible(document, key, use, self)
        for file, variant in variants.items() if experiment.uses else ():
            if variant.native_vnf is not None:
                place = read_document(self._file(self.variants_folder, file, "variant"))
                choices.use_is_possible(place, ("native_vnf",), variant.native_vnf, self)
        rules.native_is_somewhere(document, experiment, tuple(variants.values()))

    def _experiment_path(self, name_or_path: str | Path) -> Path:
        text = str(name_or_path)
        if "/" in text or text.endswith((".yml", ".yaml")):
            return Path(text)
        return self.experiment_file(text)

    def _refuse_a_kind(self, name: str) -> None:
        """Refuse the name of a kind in place of a site (`--site kolla`), and list the sites of that kind."""
        these, own = list[str](), list[str]()
        for site in self.site_names:
            # A damaged file is a fault of what names it, not of this name.
            with suppress(ConfigurationError):
                found = read_document(self.sites_folder / f"{site}.yml").data
                if found.get("kind") == name:
                    these.append(site)
                    # A file is copied for machines that are there: one whose machines nfvbed starts is no example.
                    own += [] if found.get("machines") == "box" else [site]
        if these:
            example = (own or these)[0]
            raise ConfigurationError(
                f"no site is named {name}: that is a kind of sites",
                where=str(self.sites_folder / f"{name}.yml"),
                observed=f"sites of that kind: {', '.join(these)}",
                fix=f"copy {example}.yml to {name}.yml, write name: {name} in it, and your machines; or name a site",
            )

    def _file(self, folder: Path, name: str, kind: str) -> Path:
        _require(folder, name, kind, _names(folder))
        return folder / f"{name}.yml"


def _require(folder: Path, name: str, kind: str, names: Sequence[str]) -> None:
    if name not in names:
        raise UnknownNameError(
            f"unknown {kind} {name!r}", where=str(folder), observed=repr(name), fix=suggestion(name, names)
        )


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.yml")))


def _load(path: Path, model: type[Named]) -> Named:
    document = read_document(path)
    loaded = build(document, model)
    rules.name_is_the_files_name(document, loaded.name)
    return loaded


def _overridden(document: Document, overrides: Mapping[str, Any]) -> Document:
    """Replace the file's values by the command line's, so that the same checks see them."""
    data = dict(document.data)
    is_quick = overrides.get("quick", data.get("quick")) is True
    values = {**_quick_form(data), **overrides} if is_quick else overrides
    for key, value in values.items():
        *parents, last = key.split(".")
        target = data
        for parent in parents:
            inner = target.get(parent)
            target[parent] = dict(inner) if isinstance(inner, dict) else {}
            target = target[parent]
        target[last] = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
    picked = values.get("variants", ())
    # What is neither a list nor a text names no variant: the checks of the experiment say so.
    names = picked if isinstance(picked, Sequence) else ()
    if "variants" in values and data.get("baseline") not in (BEST, *names):
        # A user who picks some of the variants should not have to know the file's baseline.
        data.pop("baseline", None)
    overridden = frozenset(tuple(key.split(".")) for key in overrides)
    replaced = [tuple(key.split(".")) for key in values]
    return replace(document, data=data, overridden=overridden, written=_without(document.written, replaced))


def _quick_form(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the keys of an experiment's quick form; none where it is no mapping, which is refused with the file."""
    form = data.get("quick_form")
    return form if isinstance(form, dict) and all(isinstance(key, str) for key in form) else {}


def _without(written: Mapping[KeyPath, str], replaced: Collection[KeyPath]) -> dict[KeyPath, str]:
    """Remove what a file wrote for keys that have other values now, and for the keys below them."""
    return {key: text for key, text in written.items() if not any(key[: len(other)] == other for other in replaced)}
