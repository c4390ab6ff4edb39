"""Writes the generated part of docs/reference from the code: `python docs/generate.py [--check]`.

With --check nothing is written; the exit status is 1 when a page is not current.
"""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import get_args

import click

from nfvbed import errors
from nfvbed.cli.main import group
from nfvbed.compare.advice import ADVICE
from nfvbed.dataplanes.catalogue import CATALOGUE, open_project
from nfvbed.dataplanes.ovs import userspace
from nfvbed.search import stop
from nfvbed.spec import experiment, flavor, onos, search, site, tests, variant, vnf
from nfvbed.spec.model import SpecModel
from nfvbed.spec.testkinds.scaling import ScalingTest
from nfvbed.spec.testkinds.sockets import SocketTest

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Written by `make reference`; edit the code instead. -->\n"


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


def page_exit_codes() -> str:
    """The exit codes, from the tree of errors."""
    found = {}
    for cls in vars(errors).values():
        if inspect.isclass(cls) and issubclass(cls, errors.NfvbedError) and cls is not errors.NfvbedError:
            found[cls.exit_code, cls.__name__] = _first_line(cls)
    rows = ["| 0 | | It worked. |"] + [
        f"| {code} | `{name}` | {text} |" for (code, name), text in sorted(found.items())
    ]
    head = "| code | error | meaning |\n|---|---|---|\n"
    closing = "`make` itself ends with 2 when a command fails and prints that command's code: `Error 12`.\n"
    return "\n".join(["# Exit codes\n", NOTE, head + "\n".join(rows) + "\n", closing])


def page_warnings() -> str:
    """The doubts about a measurement."""
    rows = [f"| `{warning}` | {_cell(advice.meaning)} | {_cell(advice.remedy)} |" for warning, advice in ADVICE.items()]
    head = "| warning | what it means | what to do |\n|---|---|---|\n"
    intro = "A doubt is stored with its trial and shown wherever the number is shown.\n"
    return "\n".join(["# Warnings\n", NOTE, intro, head + "\n".join(rows) + "\n"])


def page_files() -> str:
    """The keys of the user's files."""
    parts = ["# Files\n", NOTE, "An unknown key is an error.\n", "## Variants: `deploy/variants/NAME.yml`\n"]
    rows = [f"| `{v.name}` | `{v.port_kind}` | {_cell(v.summary)} |" for v in open_project(ROOT).list_variants()]
    parts.append("| variant | port kind | what it is |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    parts += _model_tables(variant)
    kinds = CATALOGUE.options
    parts += [table for module in _modules_of(kinds) for table in _model_tables(module)]
    parts += _model_tables(userspace, without=(userspace.OvsUserspaceOptions,))
    parts += ["## VNFs: `vnfd/NAME/vnf.yml`\n", *_model_tables(vnf, without=(vnf.VnfChoice,))]
    parts += ["## Flavors: `flavors/NAME.yml`\n", *_model_tables(flavor)]
    parts += ["## Sites: `deploy/sites/NAME.yml`\n", *_model_tables(onos)]
    parts += _model_tables(site, without=(site.SiteSpec, site.HostSiteSpec))
    parts += ["## Experiments: `vsperf-conf/experiments/NAME.yml`\n", *_model_tables(experiment)]
    parts += ["## Tests: `tests` of an experiment\n", "`kind` says which test it is.\n"]
    shared = (ScalingTest, SocketTest)
    parts += [table for module in _modules_of(get_args(tests.AnyTest)) for table in _model_tables(module, shared)]
    return "\n".join(parts)


def _modules_of(models: Iterable[type]) -> list[ModuleType]:
    return list(dict.fromkeys(sys.modules[model.__module__] for model in models))


def page_search() -> str:
    """The presets and keys of a throughput search, and why a result is irregular."""
    keys = [name for name in search.Goal.model_fields if name != "name"]
    rows = []
    for preset in search.PRESETS.values():
        for goal in preset.goals:
            values = [f"{getattr(goal, key):g}" for key in keys]
            rows.append(f"| `{preset.name}` | {goal.name} | {' | '.join(values)} | {preset.time_limit_s:g} |")
    heads = ["preset", "goal", *(f"`{key}`" for key in keys), "time limit, s"]
    head = f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    sources = "\n".join(f"- `{preset.name}`: {preset.source}." for preset in search.PRESETS.values())
    parts = ["# Searches\n", NOTE, "What the figures mean: [method](../method.md#throughput-searches).\n"]
    parts += ["## Presets\n", head + "\n".join(rows) + "\n", sources + "\n"]
    parts += ["## Keys\n", *_model_tables(search, without=(search.Goal, search.SearchPreset, search.Search))]
    texts = _field_texts(_class_of(stop, "Irregularity"))
    reasons = "\n".join(f"| `{member.value}` | {_cell(texts.get(member.name))} |" for member in stop.Irregularity)
    parts += ["## Irregular results\n", "| reason | what it means |\n|---|---|\n" + reasons + "\n"]
    return "\n".join(parts)


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
            limits = ", ".join(_limit(item) for item in info.metadata if _limit(item))
            rows.append(f"| `{name}` | {default} | {limits} | {_cell(texts.get(name))} |")
        head = (
            f"### {model.__name__}\n\n{_first_line(model)}\n\n| key | default | limits | meaning |\n|---|---|---|---|\n"
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
    "warnings.md": page_warnings,
    "files.md": page_files,
    "search.md": page_search,
    "make.md": page_make,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or only say which are not current."""
    stale = []
    for name, build in PAGES.items():
        path, text = REFERENCE / name, build()
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if "--check" not in arguments:
                path.write_text(text)
    verb = "not current, run make reference" if "--check" in arguments else "written"
    print(f"docs/reference: {', '.join(stale)} {verb}" if stale else "docs/reference: current")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
