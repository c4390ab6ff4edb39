"""Writes what is generated from the code: `python docs/generate.py [--check]`.

These are pages of docs/reference, the manual page, and what shells complete. With --check nothing is written; the exit
status is 1 when something is not current.
"""

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal, get_args, get_origin

import click
import planesbyapi
import tackeroperations
import vsperftests
from manpage import manual

from nfvbed import __version__, errors
from nfvbed.cli import outline
from nfvbed.cli.main import group
from nfvbed.cloud.novaflavor import PREFIX, extra_specs
from nfvbed.compare.advice.advice import ADVICE
from nfvbed.dataplanes.catalogue import CATALOGUE, open_project
from nfvbed.dataplanes.ovs import userspace
from nfvbed.records import GeneratorPlace
from nfvbed.search import stop
from nfvbed.sites.kolla.supporttable import support_table
from nfvbed.spec import (
    conformance,
    existing,
    experiment,
    flavor,
    kollarelease,
    machines,
    neighbour,
    onos,
    pci,
    rack,
    remote,
    search,
    searchpresets,
    site,
    tests,
    variant,
    vnf,
)
from nfvbed.spec.model import SpecModel
from nfvbed.spec.options import DataPlaneOptions, name_of
from nfvbed.spec.testkinds.scaling import ScalingTest
from nfvbed.spec.testkinds.sockets import SocketTest

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Written by `make reference`; edit the code instead. -->\n"
KOLLA_SUPPORT = """`make test-kolla-all` goes through this table: of each variant that is rendered for a release and an
example site, kolla-ansible of that release makes the services' files, by its command `genconfig` or its playbook, and
what they say is asserted; each other one is asserted to be unsupported, for the reason given. Role-converged: each of
nfvbed's roles that the variant needs has passed its test on an emulated Debian machine (`converged` in
`kolla/releases`): twice, after a restart, and back. *Deployed in the box*: a run in a [box](../howto/box.md) has noted
it, with its date, in `docs/evidence/box.json`; no row says that a machine of hardware was deployed.
[More on several machines](../howto/kolla.md)."""
CONFORMANCE = """Each result says for each standard how far its goal conforms, by the words of RFC 2544 section 3:
*unconditional* (all that is asked and all that is recommended), *conditional* (all that is asked) or *none*. It is
derived from the goal, of any origin: keys that a file changes are judged by the same code. An irregular result is
none, but for RFC 9971, which has irregular results.
"""
DEVIATIONS = """Beside it each result says what its set-up and its trials do otherwise than the standards describe it.
On site `lab`, port to port in both directions, that is:
"""
USUAL = {
    "name": "Name, by which other files refer to it.",
    "title": "Title in reports.",
    "summary": "One line on it for lists.",
    "kind": "Kind, which decides what other keys there are.",
    "dataplane": "Data plane, which decides what other keys there are.",
}
"""What fields without a text of their own mean in every file."""


def commands() -> dict[str, click.Command]:
    """Load every verb that there is; those of a group after it, as `devcloud start`."""
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    verbs = {name: command for name, command in found.items() if command is not None}
    below = {
        f"{name} {inner}": command
        for name, verb in verbs.items()
        if isinstance(verb, click.Group)
        for inner, command in verb.commands.items()
    }
    return dict(sorted({**verbs, **below}.items(), key=lambda item: list(verbs).index(item[0].split()[0])))


def make_targets() -> list[tuple[str, str]]:
    """Ask `make help`."""
    text = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  (\S+)\s+(.+)$", text, re.MULTILINE)


def page_cli() -> str:
    """The verbs with their arguments and options."""
    parts = ["# Command line\n", NOTE, "`nfvbed VERB ...`; `make` targets call the same verbs.\n"]
    parts.append(_options("## Options of all verbs\n\nBefore the verb.\n", group))
    for name, command in commands().items():
        context = click.Context(command, info_name=f"nfvbed {name}")
        usage = " ".join(command.collect_usage_pieces(context))
        text = inspect.cleandoc(command.help or "").replace("\b\n", "").strip()
        parts.append(f"## {name}\n\n    nfvbed {name} {usage}\n\n{text}\n")
        parts.append(_options("", command))
    return "\n".join(parts)


def _options(heading: str, command: click.Command) -> str:
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    rows = [f"| `{', '.join(o.opts + o.secondary_opts)}` | {_cell(o.help)} | {_default(o)} |" for o in options]
    table = "| option | purpose | default |\n|---|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    return f"{heading}\n{table}" if heading else table


def _default(option: click.Option) -> str:
    if (
        option.multiple
        or option.is_flag
        or callable(option.default)
        or not isinstance(option.default, str | int | float)
    ):
        return ""
    return f"`{option.default}`"


def _exit_codes() -> list[tuple[int, str, str]]:
    """Return code, class and meaning of each error."""
    found = [
        (cls.exit_code, cls.__name__, _first_line(cls))
        for cls in vars(errors).values()
        if inspect.isclass(cls) and issubclass(cls, errors.NfvbedError) and cls is not errors.NfvbedError
    ]
    return sorted(found)


def page_exit_codes() -> str:
    """The exit codes, from the tree of errors."""
    rows = ["| 0 | | It worked. |"] + [f"| {code} | `{name}` | {text} |" for code, name, text in _exit_codes()]
    head = "| code | error | meaning |\n|---|---|---|\n"
    closing = "`make` itself ends with 2 when a command fails and prints that command's code: `Error 12`.\n"
    return "\n".join(["# Exit codes\n", NOTE, head + "\n".join(rows) + "\n", closing])


def man_page() -> str:
    """The manual page, nfvbed(1)."""
    codes: dict[int, list[str]] = {0: ["It worked."]}
    for code, _, text in _exit_codes():
        codes.setdefault(code, []).append(text)
    return manual(__version__, group, commands(), [(str(code), " ".join(texts)) for code, texts in codes.items()])


def completed() -> str:
    """What shells complete: the verbs with their parameters."""
    verbs = {name: command for name, command in commands().items() if " " not in name}
    return json.dumps({name: outline.describe(command) for name, command in verbs.items()}, indent=1) + "\n"


def page_warnings() -> str:
    """The warnings about a measurement."""
    rows = [f"| `{warning}` | {_cell(advice.meaning)} | {_cell(advice.remedy)} |" for warning, advice in ADVICE.items()]
    head = "| warning | what it means | what to do |\n|---|---|---|\n"
    intro = "A warning is stored with its trial and shown wherever the number is shown.\n"
    return "\n".join(["# Warnings\n", NOTE, intro, head + "\n".join(rows) + "\n"])


def page_kolla_support() -> str:
    """What becomes of each variant with each release, from what the tests of Kolla go through."""
    return _page("Variants on several machines", KOLLA_SUPPORT, support_table(open_project(ROOT)))


def page_vsperf_tests() -> str:
    """Which of VSPERF's tests run natively, and what each other one lacks."""
    return _page("VSPERF's tests", vsperftests.page(open_project(ROOT)))


def page_planes_by_api() -> str:
    """Return which test onboards which VNF on which data plane through which API."""
    return _page("Data planes, VNFs and Tacker's APIs", planesbyapi.page(open_project(ROOT)))


def page_tacker_operations() -> str:
    """Return what operations in Tacker come to, and which test drove each."""
    return _page("Tacker's operations", tackeroperations.page())


def pages_of_files() -> dict[str, str]:
    """Return the pages on the user's files: an index, and one per kind of file or subject."""
    planes = _by_room(CATALOGUE.options)
    subjects = [module for module in _modules_of(get_args(tests.AnyTest)) if module is not tests]
    found = {"files/index.md": _index_of_files(), "files/variants.md": _page_variants()}
    found |= {f"files/variants/{room}.md": _page_options(models) for room, models in planes.items()}
    vnfs = [*_model_tables(vnf, without=(vnf.VnfChoice,)), *_model_tables(machines)]
    found["files/vnfs.md"] = _page("VNFs", "`vnfd/NAME/vnf.yml`; with `machines` it is one of several machines.", *vnfs)
    found["files/flavors.md"] = _page("Flavors", "`flavors/NAME.yml`.", *_model_tables(flavor), _flavors_in_nova())
    sites = _model_tables(site, without=(site.SiteSpec, site.HostSiteSpec, site.OwnCloudSiteSpec))
    sites += [table for module in (existing, onos, pci, rack) for table in _model_tables(module)]
    sites += _model_tables(remote, without=(remote.RemoteHostSpec, remote.GeneratorHostSpec))
    found["files/sites.md"] = _page("Sites", "`deploy/sites/NAME.yml`.", *sites)
    found["files/kolla-releases.md"] = _page_models("Releases of Kolla", "`kolla/releases/NAME.yml`.", kollarelease)
    parts = (*_model_tables(experiment), *_model_tables(neighbour))
    found["files/experiments.md"] = _page("Experiments", "`vsperf-conf/experiments/NAME.yml`.", *parts)
    found["files/tests.md"] = _page_tests(subjects)
    found |= {f"files/tests/{_name(module)}.md": _page_subject(module) for module in subjects}
    return found


def _flavors_in_nova() -> str:
    project = open_project(ROOT)
    rows = []
    for name in project.flavor_names:
        specs = ", ".join(f"`{key}={value}`" for key, value in extra_specs(project.load_flavor(name)).items())
        rows.append(f"| `{name}` | `{PREFIX}{name}` | {specs} |")
    text = "In a cloud, and in descriptors of VNFs. Hugepages are asked for always: ports may be vhost-user sockets.\n"
    table = "| flavor | in Nova | extra specs |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    return f"## In Nova\n\n{text}\n{table}"


def _index_of_files() -> str:
    rows = (
        ("`deploy/variants/NAME.yml`", "[variants](variants.md)", "one data plane and its options"),
        ("`vnfd/NAME/vnf.yml`", "[VNFs](vnfs.md)", "one network function: ports, image, ways of forwarding"),
        ("`flavors/NAME.yml`", "[flavors](flavors.md)", "size and placement of a virtual machine"),
        ("`deploy/sites/NAME.yml`", "[sites](sites.md)", "where data planes are deployed: cores, cables, guest nodes"),
        ("`kolla/releases/NAME.yml`", "[releases](kolla-releases.md)", "what releases call things, and can do"),
        ("`vsperf-conf/experiments/NAME.yml`", "[experiments](experiments.md)", "what is measured, and how often"),
        ("`tests` of an experiment", "[tests](tests.md)", "kinds of tests, by subject"),
        ("`goals` of a search", "[searches](../search.md)", "presets and keys of throughput searches"),
    )
    table = "| file | keys | contents |\n|---|---|---|\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
    return _page("Files", "An unknown key is an error, with the nearest known key in the message.", table)


def _page_variants() -> str:
    rooms = {name_of(model): room for room, models in _by_room(CATALOGUE.options).items() for model in models}
    rows = []
    for v in open_project(ROOT).list_variants():
        plane = v.options.dataplane
        link = f"[{plane}](variants/{rooms[plane]}.md)"
        rows.append(f"| `{v.name}` | {link} | `{v.port_kind}` | {_cell(v.summary)} |")
    table = "| variant | options | port kind | summary |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    return _page("Variants", "`deploy/variants/NAME.yml`.", table, *_model_tables(variant, without=(variant.Variant,)))


def _page_options(models: Sequence[type[DataPlaneOptions]]) -> str:
    names = ", ".join(name_of(model) for model in models)
    tables = [table for module in _modules_of(models) for table in _model_tables(module)]
    if any(issubclass(model, userspace.OvsUserspaceOptions) for model in models):
        tables += _model_tables(userspace, without=(userspace.OvsUserspaceOptions,))
    return _page(f"Options: {names}", "`options` of a [variant](../variants.md).", *tables)


def _page_tests(subjects: Sequence[ModuleType]) -> str:
    rows = []
    for model in get_args(tests.AnyTest):
        module = sys.modules[model.__module__]
        link = f"[{_name(module)}](tests/{_name(module)}.md)" if module in subjects else "below"
        rows.append(f"| `{_kind(model)}` | {link} | {_cell(_first_line(model))} |")
    table = "| `kind` | keys | summary |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    return _page("Tests", "`tests` of an [experiment](experiments.md).", table, *_model_tables(tests))


def _page_subject(module: ModuleType) -> str:
    intro = "`tests` of an [experiment](../experiments.md); all kinds: [tests](../tests.md)."
    return _page(f"Tests: {_name(module)}", intro, *_model_tables(module, (ScalingTest, SocketTest)))


def _page_models(title: str, intro: str, module: ModuleType, without: tuple[type, ...] = ()) -> str:
    return _page(title, intro, *_model_tables(module, without))


def _page(title: str, *parts: str) -> str:
    return "\n".join([f"# {title}\n", NOTE, *(part if part.endswith("\n") else f"{part}\n" for part in parts)])


def _by_room(models: Iterable[type[DataPlaneOptions]]) -> dict[str, list[type[DataPlaneOptions]]]:
    """Group data planes by the package that holds them."""
    rooms: dict[str, list[type[DataPlaneOptions]]] = {}
    for model in models:
        package = model.__module__.rpartition(".")[0]
        room = package.partition(".dataplanes.")[2] or package.rpartition(".")[2]
        rooms.setdefault(re.sub(r"[._]", "-", room), []).append(model)
    return rooms


def _kind(model: type[SpecModel]) -> str:
    return str(get_args(model.model_fields["kind"].annotation)[0])


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _modules_of(models: Iterable[type]) -> list[ModuleType]:
    return list(dict.fromkeys(sys.modules[model.__module__] for model in models))


def page_search() -> str:
    """The presets and keys of a throughput search, and why a result is irregular."""
    keys = [name for name in searchpresets.Goal.model_fields if name != "name"]
    waits = ("drain_s", "rest_s", "time_limit_s")
    rows = []
    for preset in searchpresets.PRESETS.values():
        for goal in preset.goals:
            values = [f"{getattr(goal, key):g}" for key in keys]
            conduct = [preset.trials, *(f"{getattr(preset, key):g}" for key in waits)]
            rows.append(f"| `{preset.name}` | {goal.name} | {' | '.join([*values, *conduct])} |")
    heads = ["preset", "goal", *(f"`{key}`" for key in (*keys, "trials", *waits))]
    head = f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    sources = "\n".join(f"- `{preset.name}`: {preset.source}." for preset in searchpresets.PRESETS.values())
    parts = ["# Searches\n", NOTE, "What the figures mean: [method](../method.md#throughput-searches).\n"]
    parts += ["## Presets\n", head + "\n".join(rows) + "\n", sources + "\n"]
    parts += ["## What results conform to\n", CONFORMANCE, *_conformance()]
    parts += _model_tables(search, without=(searchpresets.Goal, searchpresets.SearchPreset, search.Search))
    texts = _field_texts(_class_of(stop, "Irregularity"))
    reasons = "\n".join(f"| `{member.value}` | {_cell(texts.get(member.name))} |" for member in stop.Irregularity)
    parts += ["## Irregular results\n", "| reason | what it means |\n|---|---|\n" + reasons + "\n"]
    return "\n".join(parts)


def _conformance() -> list[str]:
    """Judge the goals of the presets as any other, and say what deviates where the generator has no host of its own."""
    judged, set_up = [], []
    for name in searchpresets.PRESETS:
        what = search.SearchSpec(preset=name).resolved()
        for goal in what.goals:
            cells = [
                one.level.value + (f": {'; '.join(one.reasons)}" if one.reasons else "")
                for one in conformance.conformance(what, goal)
            ]
            judged.append(f"| `{name}` | {goal.name} | {' | '.join(cells)} |")
        found = conformance.deviations(what, GeneratorPlace.SAME_HOST, 2)
        set_up.append(f"| `{name}` | {'; '.join(found)} |")
    heads = ["preset", "goal", *(standard.value for standard in conformance.Standard)]
    levels = f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n" + "\n".join(judged) + "\n"
    return [levels, DEVIATIONS, "| preset | what deviates |\n|---|---|\n" + "\n".join(set_up) + "\n"]


def _class_of(module: ModuleType, name: str) -> ast.ClassDef:
    source = ast.parse(inspect.getsource(module))
    return next(node for node in source.body if isinstance(node, ast.ClassDef) and node.name == name)


def _model_tables(module: ModuleType, without: tuple[type, ...] = ()) -> list[str]:
    source = ast.parse(inspect.getsource(module))
    tables = []
    for node in source.body:
        if not isinstance(node, ast.ClassDef):
            continue
        model = getattr(module, node.name)
        if not issubclass(model, SpecModel) or model in without:
            continue
        texts = _texts_of(model)
        rows = []
        for name, info in model.model_fields.items():
            default = "required" if info.is_required() else f"`{info.get_default(call_default_factory=True)}`"
            if isinstance(info.default, SpecModel):
                default = "see its own table"
            limits = ", ".join([*_values(info.annotation), *filter(None, map(_limit, info.metadata))])
            rows.append(f"| `{name}` | {default} | {limits} | {_cell(texts.get(name, USUAL.get(name)))} |")
        head = (
            f"## {model.__name__}\n\n{_first_line(model)}\n\n| key | default | limits | meaning |\n|---|---|---|---|\n"
        )
        tables.append(head + "\n".join(rows) + "\n")
    return tables


def _texts_of(model: type[SpecModel]) -> dict[str, str]:
    """The texts of a model's fields, those of the models that it extends among them."""
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, SpecModel) and base is not SpecModel:
            texts |= _field_texts(_class_of(sys.modules[base.__module__], base.__name__))
    return texts


def _values(annotation: object) -> list[str]:
    """The values of a literal."""
    return [f"`{value}`" for value in get_args(annotation)] if get_origin(annotation) is Literal else []


def _limit(item: object) -> str:
    signs = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "min_length": "at least", "pattern": "matches"}
    return ", ".join(
        f"{sign} `{getattr(item, key)}`" for key, sign in signs.items() if getattr(item, key, None) is not None
    ).replace("|", "\\|")


def _field_texts(node: ast.ClassDef) -> dict[str, str]:
    """The string below a field is its text."""
    texts = {}
    for field, after in zip(node.body, node.body[1:], strict=False):
        target = field.targets[0] if isinstance(field, ast.Assign) else getattr(field, "target", None)
        if isinstance(target, ast.Name) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            texts[target.id] = inspect.cleandoc(str(after.value.value))
    return texts


def page_make() -> str:
    """The make targets."""
    rows = [f"| `{name}` | {_cell(text)} |" for name, text in make_targets()]
    return "\n".join(["# Make targets\n", NOTE, "| target | what it does |\n|---|---|\n" + "\n".join(rows) + "\n"])


def _first_line(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "").splitlines()[0]


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


PAGES = {
    "cli.md": page_cli,
    "exit-codes.md": page_exit_codes,
    "kolla-support.md": page_kolla_support,
    "planes-by-api.md": page_planes_by_api,
    "tacker-operations.md": page_tacker_operations,
    "vsperf-tests.md": page_vsperf_tests,
    "warnings.md": page_warnings,
    "search.md": page_search,
    "make.md": page_make,
}


OTHERS = {"docs/reference/nfvbed.1": man_page, outline.FILE.relative_to(ROOT).as_posix(): completed}
"""What is no page, by its path below the root."""


def texts() -> dict[str, str]:
    """Return the text of everything that is generated by its path below the root."""
    pages = {name: build() for name, build in PAGES.items()} | pages_of_files()
    return {f"docs/reference/{name}": text for name, text in pages.items()} | {
        path: build() for path, build in OTHERS.items()
    }


def stale(wanted: dict[str, str]) -> list[str]:
    """Return what is missing or not current, and pages below files/ that nothing generates any more."""
    there = {path.relative_to(ROOT).as_posix() for path in (REFERENCE / "files").rglob("*.md")}
    changed = {name for name, text in wanted.items() if not _is(ROOT / name, text)}
    return sorted((there - set(wanted)) | changed)


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text() == text


def main(arguments: list[str]) -> int:
    """Write it, or only say what is not current."""
    wanted = texts()
    names = stale(wanted)
    if "--check" not in arguments:
        for name in names:
            path = ROOT / name
            if name not in wanted:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[name])
    verb = "not current, run make reference" if "--check" in arguments else "written"
    print(f"reference: {', '.join(names)} {verb}" if names else "reference: current")
    return 1 if names and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
