"""The command line: exit codes, messages without tracebacks, JSON where it is promised."""

import gzip
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nfvbed.cli.main import VERBS, group, main, report_internal_error
from nfvbed.errors import NfvbedError
from nfvbed.records import Preset, Status
from nfvbed.store import Store
from tests.dashboard_runs import two_variants
from tests.refusals import refused_command

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def store_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "results.sqlite"
    monkeypatch.setenv("NFVBED_STORE", str(path))
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    hook, handlers = sys.excepthook, {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield path
    sys.excepthook = hook
    for number, handler in handlers.items():
        signal.signal(number, handler)


Captured = pytest.CaptureFixture[str]


def read(capsys: Captured, *arguments: str) -> Any:
    assert main(arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_a_simulated_run_is_stored_and_reported(capsys: Captured, store_path: Path) -> None:
    assert main(["run", "simulated", "--repetitions", "2", "--frame-size", "64"]) == 0
    captured = capsys.readouterr()
    assert "simulated: none of this was measured" in captured.out
    assert "ended: ok" in captured.err
    with Store.open(store_path, read_only=True) as store:
        run = store.run("latest")
        assert f"run {run.id} of simulated begins" in captured.err
        assert [cell.id for cell in store.cells(run.id)][-1] == "simulated/p2p/64"
    assert read(capsys, "runs", "--json") == []
    listed = read(capsys, "runs", "--all", "--json")
    assert [(item["id"], item["status"]) for item in listed] == [(run.id, "ok")]
    exported = read(capsys, "export", run.id[:18])
    assert len(exported["trials"]) == 2 * (3 + 3) + 2 * (3 + 1), "two ceilings, and the cell with its paced trials"


def test_the_page_of_a_simulated_run_names_no_machine(capsys: Captured, store_path: Path, tmp_path: Path) -> None:
    assert main(["run", "simulated", "--repetitions", "2", "--frame-size", "64"]) == 0
    assert main(["report", "--simulated", "--output", str(tmp_path / "page")]) == 0
    assert "no machine: simulated" in (tmp_path / "page" / "index.html").read_text()


def test_an_exported_run_goes_into_another_store(capsys: Captured, tmp_path: Path) -> None:
    main(["run", "simulated", "--repetitions", "1"])
    file, other = tmp_path / "run.json", str(tmp_path / "other.sqlite")
    assert main(["export", "--simulated", "--output", str(file)]) == 0
    assert main(["import", str(file), "--dry-run", "--store", other]) == 0
    assert not Path(other).exists()
    assert main(["import", str(file), "--store", other]) == 0
    assert "already" in refused_command(capsys, 30, "import", str(file), "--store", other)


def test_dry_run_and_plan_change_nothing(capsys: Captured, store_path: Path) -> None:
    assert main(["run", "demo", "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "ovs-dpdk/p2p/1518" in text
    assert "loopback:vhost-user/p2p/64" in text
    assert "8 or 12" in text and "3 x mrr, paced, common" in " ".join(text.split())
    document = read(capsys, "plan", "demo", "--purpose", "survey", "--repetitions", "2", "--json")
    assert document["rounds"] == {"at_least": 2, "at_most": 2}
    document = read(capsys, "plan", "demo", "--look", "6", "--look", "9", "--json")
    assert document["rounds"] == {"at_least": 6, "at_most": 9}
    document = read(capsys, "plan", "demo", "--variant", "ovs-dpdk", "--frame-size", "imix", "--json")
    assert "ovs-dpdk/p2p/imix" in [cell["id"] for cell in document["cells"]]
    assert document["estimate_s"]["at_least"] > 0
    assert not store_path.exists()


def test_variants(capsys: Captured) -> None:
    assert {item["name"] for item in read(capsys, "variants", "--json")} >= {"ovs-dpdk", "linux-bridge", "simulated"}
    shown = read(capsys, "variants", "ovs-dpdk", "--json")
    assert shown["options"]["emc"] is True, "defaults are filled in"
    assert main(["variants", "ovs-dpdk"]) == 0
    assert "pmd_cores: 1" in capsys.readouterr().out


REFUSALS = [
    (10, ["variants", "ovs-dpkd"], "did you mean 'ovs-dpdk'?"),
    (10, ["run", "dmo"], "did you mean 'demo'?"),
    (10, ["run", "demo", "--variant", "no-such"], "unknown variant 'no-such'"),
    (10, ["run", "demo", "--frame-size", "63"], "at least 64 and at most 9018"),
    (10, ["run", "demo", "--set", "trials.duration=1"], "unknown key 'trials.duration'"),
    (
        10,
        ["run", "demo", "--max-rounds", "3", "--repetitions", "1"],
        "max_rounds (3) must be at least the first",
    ),
    (10, ["run", "demo", "--look", "8", "--look", "6"], "numbers of rounds that rise"),
    (10, ["run", "demo", "--variant", "simulated", "--variant", "ovs-dpdk"], "mixes simulated and real"),
    (10, ["run", "simulated", "--set", "tests=[{kind: mrr}, {kind: search, late: 1}]"], "late_ratio"),
    (10, ["--root", "/nowhere", "variants"], "NFVBED_ROOT=/nowhere"),
    (2, ["run"], "Missing argument 'EXPERIMENT'"),
    (2, ["run", "demo", "--repetitions", "many"], "is not a valid integer"),
    (2, ["run", "demo", "--set", "novalue"], "is not KEY=VALUE"),
    (2, ["run", "demo", "--set", "trials.warmup_s=010"], "to another base"),
    (2, ["frobnicate"], "No such command"),
    (2, ["run", "--resume"], "no run to resume"),
    (2, ["run", "--resume", "abc", "--repetitions", "3"], "a resumed run keeps its plan"),
    (30, ["runs"], "no results yet"),
    (30, ["export"], "nfvbed run <experiment>"),
]


UNKNOWN = [
    "compare no-such",
    "compare --baseline no-such",
    "deploy no-such",
    "deploy linux-bridge --site no-such",
    "deploy linux-bridge --topology no-such",
    "devcloud logs no-such",
    "doctor --site no-such",
    "doctor --site rack --release no-such",
    "doctor --variant no-such",
    "explain latest no-such",
    "explain no-such p2p",
    "export no-such",
    "kolla render no-such --site rack --output here",
    "kolla render ovs-dpdk --site no-such --output here",
    "onboard no-such --variant linux-bridge",
    "onboard vloop --variant no-such --check",
    "onboard vloop --variant linux-bridge --check --flavor no-such",
    "onboard ./no-such.csar --variant linux-bridge --dry-run",
    "onboard no-such_ --variant linux-bridge --check",
    "package no-such",
    "package no-such.csar",
    "package /no-such/x.yaml",
    "package vloop --flavor no-such",
    "plan no-such",
    "recommend --need latency --host no-such",
    "report no-such",
    "run --resume no-such",
    "run --vsperf no-such --dry-run",
    "run no-such",
    "run pvp --variant no-such",
    "steer --site no-such",
    "trace linux-bridge --topology no-such",
    "trace no-such",
    "trend --setting no-such",
    "trend --variant no-such",
    "variants no-such",
    "verify no-such",
]
"""A name that nothing has, wherever one can be given; a closed list of `--help` is click's (exit status 2)."""


@pytest.fixture(scope="module", name="of_two_variants")
def _of_two_variants(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stored") / "results.sqlite"
    two_variants(path)
    return path


@pytest.mark.parametrize("words", UNKNOWN)
def test_an_unknown_name_ends_alike_everywhere(
    capsys: Captured, of_two_variants: Path, store_path: Path, words: str
) -> None:
    shutil.copy(of_two_variants, store_path)
    message = refused_command(capsys, 10, *words.split())
    assert "no-such" in message and "fix: " in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (gzip.compress(b"{}", mtime=0), "it is not UTF-8 text (gzip)"),
        (b"\xff\xfe{\x00}\x00", "it is not UTF-8 text (UTF-16)"),
        (b"\xe4", "it is not UTF-8 text"),
        (b"{", "EOF while parsing"),
        (
            b'{"date": "x", "nfvbench_version": "5", "benchmarks": {}}',
            "it is a result of NFVbench, which is not imported",
        ),
        (b'{"version": "1.5", "test_id": "x", "start_time": "x", "result": {}}', "it is a result of FD.io CSIT"),
        (b"type,packet_size,throughput_rx_fps\n", "it is a result of VSPERF"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_exported_run_is_named(capsys: Captured, tmp_path: Path, content: bytes, says: str) -> None:
    if content is not None:
        (tmp_path / "given").write_bytes(content)
    assert says in refused_command(capsys, 10, "import", "--dry-run", str(tmp_path / "given"))


def test_a_reader_that_goes_away_ends_output_and_not_the_run(store_path: Path) -> None:
    argv = [sys.executable, "-m", "nfvbed", "run", "simulated", "--repetitions", "1", "--frame-size", "64"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None and process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 0
    with Store.open(store_path, read_only=True) as store:
        (run,) = store.runs()
        assert (run.status, run.reason) == (Status.OK, "")


@pytest.mark.parametrize(("code", "arguments", "message"), REFUSALS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_reported(capsys: Captured, code: int, arguments: list[str], message: str) -> None:
    assert message in refused_command(capsys, code, *arguments)


def test_a_damaged_results_file(capsys: Captured, store_path: Path) -> None:
    store_path.write_text("not a database at all" * 100)
    assert "not a database" in refused_command(capsys, 30, "runs")
    assert "not a database" in refused_command(capsys, 30, "run", "simulated")


def test_a_second_nfvbed_on_the_same_results(capsys: Captured, store_path: Path) -> None:
    with Store.open(store_path):
        message = refused_command(capsys, 13, "run", "simulated")
    assert f"process {os.getpid()}" in message


def test_an_internal_error_has_no_traceback(capsys: Captured) -> None:
    report_internal_error(KeyError, KeyError("x"), None)
    message = capsys.readouterr().err
    assert "internal error: KeyError: 'x'" in message
    assert "--debug" in message


def test_help_imports_no_verb() -> None:
    script = (
        "import sys, nfvbed.cli.main as m; m.main(['--help']);"
        "heavy = {'pydantic', 'sqlalchemy', 'yaml', 'numpy', 'rich'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "variants" in done.stdout


def test_every_option_says_what_it_is_for() -> None:
    import click

    context = click.Context(group)
    for verb in group.list_commands(context):
        command = group.get_command(context, verb)
        assert command is not None
        assert command.name == verb
        assert command.help, verb
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{verb} {option.name}"
    assert set(group.list_commands(context)) <= set(VERBS)


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "nfvbed", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


ENDLESS = ["run", "simulated", "--repetitions", "1000", "--max-rounds", "1000", "--set", "trials.warmup_s=0"]


def wait_for_trials(path: Path) -> None:
    for _ in range(600):
        time.sleep(0.05)
        if path.exists() and path.stat().st_size:
            try:
                with Store.open(path, read_only=True) as store:
                    if store.runs() and len(store.trials(store.run("latest").id)) > 3:
                        return
            except NfvbedError:
                continue
    raise AssertionError("the run never began")


def interrupted(process: subprocess.Popen[str], number: signal.Signals, path: Path) -> None:
    """End a run by a signal: it says how to go on, and is stored as interrupted."""
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "nfvbed run --resume" in errors
    with Store.open(path, read_only=True) as store:
        assert store.run("latest").status == "interrupted"


def test_an_interrupted_run_says_how_to_go_on(store_path: Path) -> None:
    with start(*ENDLESS) as process:
        wait_for_trials(store_path)
        interrupted(process, signal.SIGTERM, store_path)


def test_a_killed_run_is_found_and_goes_on(capsys: Captured, store_path: Path) -> None:
    with start(*ENDLESS) as process:
        wait_for_trials(store_path)
        process.kill()
        process.communicate()
    assert main(["runs", "--all"]) == 0
    assert "crashed" in capsys.readouterr().out
    with Store.open(store_path, read_only=True) as store:
        run = store.run("latest")
        before = store.trials(run.id)
        assert run.status is None
    with start("run", "--resume") as process:
        for _ in range(600):
            time.sleep(0.05)
            with Store.open(store_path, read_only=True) as store:
                trials = store.trials(run.id)
            if len(trials) > len(before) + 3:
                break
        interrupted(process, signal.SIGINT, store_path)
    assert trials[: len(before)] == before
    assert [t.sequence for t in trials] == list(range(1, len(trials) + 1))
    assert len(trials) > len(before)
    visits = Counter((t.round, t.cell) for t in trials if t.preset is Preset.MRR)
    assert set(list(visits.values())[:-1]) == {3}, "a visit that was cut short is completed, not repeated"


def test_a_plan_says_where_checksums_are_left_out_before_anything_is_measured(capsys: Captured) -> None:
    vnfs = "vnfs=[{forwarding: raw}, {forwarding: raw, offloads: false}, {forwarding: bridge}]"
    options = ("pvp", "--set", "variants=[linux-bridge, xdp]", "--set", "topologies=[pvp]", "--set", vnfs)
    options += ("--frame-size", "64")
    document = read(capsys, "plan", *options, "--json")
    assert document["offloads_on"] == ["linux-bridge/pvp+process-raw/64"]
    assert main(["plan", *options]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "offloads-on: linux-bridge/pvp+process-raw/64: A raw-Ethernet VNF is on ports" in text
    # nextepc's gateways are sockets: the kernel completes checksums before a packet is in the tunnel. XDP's read frames
    # as they are.
    trapped = "linux-bridge/vepc+process-xdp-gateway-vepc/1518"
    assert read(capsys, "plan", "seed-ocata-vepc", "--json")["offloads_on"] == [trapped]


def test_tests_are_set_planned_run_and_reported(capsys: Captured, store_path: Path) -> None:
    tests = "tests=[{kind: mrr}, {kind: search}, {kind: latency, duration_s: 0.1}]"
    options = ("simulated", "--frame-size", "64", "--repetitions", "1", "--quick", "--set", tests)
    plan = read(capsys, "plan", *options, "--json")
    assert [unit["test"] for unit in plan["first_round"]][-3:] == ["mrr", "search", "latency"]
    assert main(["plan", *options]) == 0
    assert "search: csit-quick (clean 0.05 s trials), NDR (loss ratio 0)" in capsys.readouterr().out
    assert main(["run", *options]) == 0
    captured = capsys.readouterr()
    assert "round 1 of 1 to 60" in captured.err
    exported = read(capsys, "export", "--simulated")
    assert [(result["test"], result["status"]) for result in exported["results"]] == [
        ("latency", "ok"),  # of the generator alone
        ("search", "ok"),
        ("latency", "ok"),
    ]
    assert exported["results"][1]["payload"]["label"] == "csit-quick (clean 0.05 s trials, 0 % void)"
    wrong = refused_command(capsys, 10, "plan", "simulated", "--set", "tests=[{kind: latency}]")
    assert "parts of PDR, which no test before it measures" in wrong
    assert "unknown preset" in refused_command(
        capsys, 10, "plan", "simulated", "--set", "tests=[{kind: search, preset: x}]"
    )


def test_no_command_but_report_imports_what_takes_long_and_is_rarely_needed():
    there = [module for module, _ in VERBS.values() if importlib.util.find_spec(f"nfvbed.cli.{module}")]
    modules = ", ".join(f"nfvbed.cli.{module}" for module in there if module != "report")
    source = f"import sys, {modules}; print(sorted({{'scipy', 'altair', 'vl_convert'}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
