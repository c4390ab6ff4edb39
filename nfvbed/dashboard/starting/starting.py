"""What can be asked of the command line by mouse: a choice of the project's files, and the arguments that it means."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from pydantic import ConfigDict

from nfvbed.errors import UsageError
from nfvbed.records import Record, VnfKind
from nfvbed.spec.loader import Project

TOPOLOGY: Final = re.compile(r"^[a-z0-9]{2,12}$")
SIZE: Final = re.compile(r"^([0-9]{2,5}|imix)$")
NUMBER: Final = re.compile(r"^[0-9]{1,6}$")
SETTING: Final = re.compile(r"^[a-z][a-z0-9_.]*=[^\n\r]{1,200}$")
MOST_VARIANTS: Final = 16
MOST_SETTINGS: Final = 8
CHOOSE_VNF: Final = "choose the VNF too; with none, it is what the experiment has"


class Action(StrEnum):
    """An action that a button of the dashboard starts."""

    EXAMINE = "examine"
    DEPLOY = "deploy"
    ONBOARD = "onboard"
    RUN = "run"
    RESUME = "resume"
    OFFBOARD = "offboard"
    DESTROY = "destroy"


class RunChoices(Record):
    """A choice, as a URL or a form holds it; what is empty is the experiment's, or nfvbed's default."""

    model_config = ConfigDict(defer_build=False)
    """A route has it as its body, for which FastAPI needs it built."""

    site: str = "lab"
    variants: tuple[str, ...] = ()
    vnf: str = ""
    kind: str = ""
    flavor: str = ""
    experiment: str = ""
    topology: str = ""
    sizes: tuple[str, ...] = ()
    purpose: str = ""
    rounds: str = ""
    """At most."""
    budget: str = ""
    """Seconds, within which the run ends."""
    limit: str = ""
    """Seconds, after which no round begins."""
    settings: tuple[str, ...] = ()
    """Changed keys of the experiment, as `key=value`."""
    ceilings: str = ""
    """`no`: the generator's and the ports' limits are not measured, for which nothing may be deployed."""

    @classmethod
    def of(cls, fields: Mapping[str, Sequence[str]], project: Project) -> "RunChoices":
        """Return the choices in a form's or a query's fields, checked.

        Raises:
            UsageError: the project has no file of that name, or a value is not valid.
        """

        def one(name: str) -> str:
            return next(iter(fields.get(name, ())), "").strip()

        wanted = cls(
            site=one("site") or "lab",
            variants=tuple(dict.fromkeys(name for name in fields.get("variant", ()) if name)),
            vnf=one("vnf"),
            kind=one("kind"),
            flavor=one("flavor"),
            experiment=one("experiment"),
            topology=one("topology"),
            sizes=tuple(one("sizes").replace(",", " ").split()),
            purpose=one("purpose"),
            rounds=one("rounds"),
            budget=one("budget"),
            limit=one("limit"),
            settings=tuple(dict.fromkeys(text for value in fields.get("set", ()) if (text := value.strip()))),
            ceilings=one("ceilings"),
        )
        wanted._check(project)
        only = project.load_site(wanted.site).only_vnf_kind
        return wanted.model_copy(update={"kind": only.value}) if only and wanted.vnf and not wanted.kind else wanted

    @classmethod
    def corrected(cls, fields: Mapping[str, Sequence[str]], project: Project) -> tuple["RunChoices", dict[str, str]]:
        """Return the choices without those fields whose values are not valid, and what is wrong with each of these."""
        left, wrong = dict(fields), dict[str, str]()
        while True:
            try:
                return cls.of(left, project), wrong
            except UsageError as error:
                if error.where not in left:
                    raise
                wrong[error.where] = f"{error.what} ({error.observed}); {error.fix}"
                del left[error.where]

    def _check(self, project: Project) -> None:
        known: tuple[tuple[str, Sequence[str], Sequence[str]], ...] = (
            ("site", (self.site,), project.site_names),
            ("variant", self.variants, project.variant_names),
            ("vnf", (self.vnf,), project.vnf_names),
            ("experiment", (self.experiment,), project.experiment_names),
            ("purpose", (self.purpose,), ("compare", "survey")),
            ("ceilings", (self.ceilings,), ("no",)),
            ("kind", (self.kind,), [kind.value for kind in VnfKind]),
            ("flavor", (self.flavor,), project.flavor_names),
        )
        for field, names, options in known:
            _require(field, [name for name in names if name], options)
        written = (
            ("topology", (self.topology,), TOPOLOGY, "a topology: letters and digits, as p2p, pvp or pv3p"),
            ("rounds", (self.rounds,), NUMBER, "a number of rounds"),
            ("budget", (self.budget,), NUMBER, "a number of seconds"),
            ("limit", (self.limit,), NUMBER, "a number of seconds"),
            ("sizes", self.sizes, SIZE, "frame sizes in bytes, as 64 1518, or imix"),
            ("set", self.settings, SETTING, "a setting, as key=value"),
        )
        for field, values, pattern, what in written:
            for value in values:
                if value and not pattern.match(value):
                    raise UsageError(f"this is not {what}", where=field, observed=repr(value[:40]), fix="correct it")
        for field, chosen, most in (
            ("variant", self.variants, MOST_VARIANTS), ("set", self.settings, MOST_SETTINGS)
        ):  # fmt: skip
            if len(chosen) > most:
                seen = f"{len(chosen)}"
                raise UsageError(f"at most {most} are chosen at once", where=field, observed=seen, fix="choose fewer")

    @property
    def of_run(self) -> tuple[str, ...]:
        """Return the options of `nfvbed plan` and `nfvbed run`.

        Raises:
            UsageError: a kind or a flavor is chosen, and no VNF that would have it.
        """
        found = ["--site", self.site]
        for name in self.variants:
            found += ["--variant", name]
        for size in self.sizes:
            found += ["--frame-size", size]
        for option, value in (
            ("--topology", self.topology), ("--purpose", self.purpose), ("--max-rounds", self.rounds),
            ("--repetitions", self.rounds if self.purpose == "survey" else ""),
            ("--budget", self.budget), ("--time-limit", self.limit),
        ):  # fmt: skip
            found += [option, value] if value else []
        own = [(key, value) for key, value in (("kind", self.kind), ("flavor", self.flavor)) if value]
        if own and not self.vnf:
            chosen = ", ".join(f"{key} {value}" for key, value in own)
            raise UsageError("kind and flavor are those of a VNF, and none is chosen", observed=chosen, fix=CHOOSE_VNF)
        if self.vnf:
            use = ", ".join(f"{key}: {value}" for key, value in (("vnf", self.vnf), *own))
            found += ["--set", f"vnfs=[{{{use}}}]"]
        for setting in (*self.settings, *(("ceilings=false",) if self.ceilings else ())):
            found += ["--set", setting]
        return tuple(found)

    def variant(self, what: str) -> str:
        """Return the one variant that is chosen.

        Raises:
            UsageError: no variant is chosen, or several are.
        """
        if len(self.variants) != 1:
            chosen = ", ".join(self.variants) or "none"
            raise UsageError(f"one variant is to {what}", observed=chosen, fix="choose one variant")
        return self.variants[0]


def arguments_of(action: Action, wanted: RunChoices, run: str = "") -> tuple[str, ...]:
    """Return the arguments of nfvbed for an action.

    Args:
        run: the id of the run to go on with.

    Raises:
        UsageError: the choice lacks something.
    """
    at = ("--site", wanted.site)
    topology = ("--topology", wanted.topology) if wanted.topology else ()
    match action:
        case Action.EXAMINE:
            return ("doctor", *at, "--json")
        case Action.DEPLOY:
            return ("deploy", wanted.variant("be deployed"), *at, *topology)
        case Action.ONBOARD:
            if not wanted.vnf:
                raise UsageError("a VNF is to be onboarded", observed="none", fix="choose a VNF")
            on = ("--variant", wanted.variant("be onboarded on")) if wanted.variants else ()
            kind = ("--kind", wanted.kind) if wanted.kind else ()
            flavor = ("--flavor", wanted.flavor) if wanted.flavor else ()
            return ("onboard", wanted.vnf, *on, *at, *topology, *kind, *flavor)
        case Action.RUN:
            if not wanted.experiment:
                raise UsageError("an experiment is to run", observed="none", fix="choose an experiment")
            return ("run", wanted.experiment, *wanted.of_run)
        case Action.RESUME:
            return ("run", f"--resume={run}")
        case Action.OFFBOARD | Action.DESTROY:
            return (action.value, *at)


def _require(field: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            what = f"there is no such {'VNF' if field == 'vnf' else field}"
            fix = f"one of {', '.join(known)}" if known else "the project has none"
            raise UsageError(what, where=field, observed=repr(name[:60]), fix=fix)
