"""What shells complete: values from folders and the store, on a line as it is typed, without importing a verb."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete

from nfvbed.cli.completion import FRAME_SIZES, TOPOLOGIES, FrameSizes, NameType
from nfvbed.cli.main import VERBS, group
from nfvbed.cli.outline import outlined
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records.annotations import Mark
from nfvbed.spec.layout import MAX_CHAIN, chains, layout
from nfvbed.store import Store
from tests.dashboard_runs import ELSEWHERE, two_variants
from tests.sample_records import RUN

ROOT = Path(__file__).parents[3]
PROJECT = open_project(ROOT)
NAMES = {
    "variant",
    "site",
    "experiment",
    "flavor",
    "release",
    "vnf",
    "topology",
    "frame_size",
    "run",
    "runs",
    "baseline",
}
"""Parameters that take a name, or a size of which some are usual."""
LABELS = {("recommend", "vnf"), ("gate", "baseline")}
"""What is named so and is none: the label of a VNF in results; options of a variant."""
BASH = """
eval "$(_NFVBED_COMPLETE=bash_source nfvbed)"
COMP_WORDS=({words}) COMP_CWORD={last}
_nfvbed_completion nfvbed
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
MAIN = "from nfvbed.cli.main import main; main([])"
IMPORTED = """
import sys
from nfvbed.cli.main import main
try:
    main([])
finally:
    print(*{"numpy", "pydantic", "sqlalchemy", "yaml", "rich"} & {*sys.modules}, file=sys.stderr)
"""


@pytest.fixture(autouse=True, name="store")
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "results.sqlite"
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    monkeypatch.setenv("NFVBED_STORE", str(path))
    return path


def items(*words: str) -> list[CompletionItem]:
    """Complete the last word of a line."""
    return ShellComplete(group, {}, "nfvbed", "_NFVBED_COMPLETE").get_completions([*words[:-1]], words[-1])


def values(*words: str) -> tuple[str, ...]:
    return tuple(item.value for item in items(*words))


def completed(
    *words: str, code: str = "from nfvbed.cli.main import main; main([])"
) -> subprocess.CompletedProcess[str]:
    """Ask a process as bash does."""
    asked = {
        "_NFVBED_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("nfvbed", *words)),
        "COMP_CWORD": str(len(words)),
    }
    argv = [sys.executable, "-c", code]
    return subprocess.run(argv, env={**os.environ, **asked}, capture_output=True, text=True, check=False)


def loaded() -> dict[str, click.Command]:
    context = click.Context(group)
    return {verb: command for verb in VERBS if (command := group.get_command(context, verb))}


def below(verb: str, command: click.Command) -> list[tuple[str, click.Command]]:
    inner = sorted(command.commands.items()) if isinstance(command, click.Group) else ()
    return [(verb, command), *((verb, one) for _, one in inner)]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("deploy", ""), PROJECT.variant_names),
        (("run", "demo", "--variant", "ovs-dpdk"), tuple(n for n in PROJECT.variant_names if n.startswith("ovs-dpdk"))),
        (("run", ""), PROJECT.experiment_names),
        (("plan", "demo", "--site=rack-tw"), ("rack-two-machines",)),
        (("onboard", ""), PROJECT.vnf_names),
        (("trace", "xdp", "--vnf", ""), PROJECT.vnf_names),
        (("onboard", "vloop", "--flavor", ""), PROJECT.flavor_names),
        (("kolla", "render", "ovs-dpdk", "--release", ""), PROJECT.kolla_release_names),
        (("compare", "--baseline", "be"), ("best",)),
        (("deploy", "xdp", "--topology", ""), TOPOLOGIES),
        (("deploy", "xdp", "--frame-size", ""), FRAME_SIZES),
        (("run", "demo", "--frame-size", "i"), ("imix",)),
        (("recommend", "--need", "j"), ("jitter",)),
        (("devcloud", "sta"), ("start", "status")),
        (("ex",), ("explain", "export")),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) and len(value) < 6 else None,
)
def test_values_are_those_that_there_are(words: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    assert values(*words) == wanted


def test_topologies_are_all_that_can_be_laid_out() -> None:
    assert [layout(name).name for name in TOPOLOGIES] == [*TOPOLOGIES]
    assert {*chains(MAX_CHAIN)} <= {*TOPOLOGIES}


def test_runs_are_named_by_id_and_label(store: Path) -> None:
    two_variants(store)
    with Store.open(store) as opened:
        opened.say(RUN, {Mark.LABEL: "before"}, "a person")
        known = [run.id for run in opened.runs()]
        opened.say(ELSEWHERE, {Mark.LABEL: "taken"}, "a person")
        opened.say(ELSEWHERE, {Mark.LABEL: ""}, "a person")
        cells = tuple(cell.id for cell in opened.cells(RUN))
    assert values("compare", "") == ("latest", "before", *known)
    assert values("run", "--resume", RUN[:6]) == (RUN,)
    assert [item.help.split()[0] for item in items("report", RUN) if item.help] == ["demo"]
    for name in (RUN, RUN[-6:], "before", "latest"):
        assert values("explain", name, "") == cells
    assert values("explain", "none-such", "") == ()


def test_the_store_of_the_line_is_read_also_where_nothing_can_be_written(store: Path, tmp_path: Path) -> None:
    two_variants(store)
    alone = tmp_path / "alone" / "copy.sqlite"
    alone.parent.mkdir()
    alone.write_bytes(store.read_bytes())
    alone.parent.chmod(0o555)
    store.unlink()
    assert values("compare", "") == ()
    for words in (("--store", str(alone), "compare", RUN[:8]), ("compare", "--store", str(alone), RUN[:8])):
        assert values(*words) == (RUN,)


@pytest.mark.parametrize("words", [("--store", "re"), ("compare", "--store", ""), ("package", "vloop", "--output", "")])
def test_paths_are_completed_by_the_shell(words: tuple[str, ...]) -> None:
    assert [item.type for item in items(*words)] == ["file"]


def test_a_file_may_stand_in_the_place_of_a_vnf() -> None:
    assert [item.type for item in items("onboard", "./mine.yml")] == ["file"]


@pytest.mark.parametrize("spoiled", ["store", "root", "server"])
def test_nothing_is_said_of_what_cannot_be_read(spoiled: str, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if spoiled == "store":
        store.write_bytes(b"not a database" * 100)
    elif spoiled == "root":
        monkeypatch.setenv("NFVBED_ROOT", "/nowhere")
    else:
        monkeypatch.setenv("NFVBED_STORE", "postgresql://nobody@127.0.0.1:1/none")
    ended = completed("explain", "")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "plain,01" not in ended.stdout


def test_no_verb_is_imported_nor_what_it_needs() -> None:
    ended = completed("run", "--variant", "", code=IMPORTED)
    assert (ended.returncode, ended.stderr.strip()) == (0, "")
    assert ended.stdout.split() == [f"plain,{name}" for name in PROJECT.variant_names]


def test_what_is_completed_is_what_a_verb_takes() -> None:
    for verb, command in loaded().items():
        written = outlined(verb, "")
        assert written is not None
        for (_, real), (_, outline) in zip(below(verb, command), below(verb, written), strict=True):
            taken = [(one.name, sorted(one.opts), one.nargs, one.multiple) for one in real.params]
            assert [(one.name, sorted(one.opts), one.nargs, one.multiple) for one in outline.params] == taken


def test_every_parameter_that_takes_a_name_has_values() -> None:
    bare = [
        (verb, parameter.name)
        for name, command in loaded().items()
        for verb, one in below(name, command)
        for parameter in one.params
        if parameter.name in NAMES and not isinstance(parameter.type, NameType | FrameSizes)
    ]
    assert {*bare} == LABELS


def test_bash_completes_names(store: Path) -> None:
    words = ("nfvbed", "deploy", "ovs-overlay-")
    script = BASH.format(words=" ".join(words), last=len(words) - 1)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "--norc", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""
    assert ended.stdout.split() == [name for name in PROJECT.variant_names if name.startswith("ovs-overlay-")]
