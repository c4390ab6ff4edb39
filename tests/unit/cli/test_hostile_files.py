"""Files without bound, given to commands in a process that has 200 MB more than it takes to start: each is refused."""

import io
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from nfvbed.cli.main import VERBS, VerbGroup, group, main
from nfvbed.errors import ConfigurationError

ROOT = Path(__file__).parents[3]
EXIT = ConfigurationError.exit_code
MEMORY = 200 * 10**6
PATIENCE_S = 120.0
"""A command that goes on without bound takes minutes; one that is refused a second, on a host that has time for it."""
FORKED = multiprocessing.get_context("forkserver")
"""Its server has loaded what commands need, which takes longer than most refusals."""
FORKED.set_forkserver_preload(
    [
        *(__name__, "nfvbed.store.transfer", "nfvbed.vnfs.descriptors.descriptorfile"),
        *(f"nfvbed.cli.{VERBS[verb][0]}" for verb in ("import", "package", "plan", "run")),
    ]
)


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    returncode: int | None
    stdout: str
    stderr: str


def limited(words, folder):
    """Be a command with no more memory than that, its output in files of a folder."""
    os.chdir(ROOT)
    os.environ["NFVBED_ROOT"] = str(ROOT)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(os.open(folder / name, os.O_RDWR if number else os.O_RDONLY), number)
    sys.stdin = os.fdopen(0, closefd=False)
    VerbGroup().get_command(click.Context(group), words[0])
    there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (there + MEMORY,) * 2)
    sys.exit(main(words))


def run(words, stdin=os.devnull):
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "stdin").symlink_to(stdin)
        for name in ("stdout", "stderr"):
            (folder / name).touch()
        process = FORKED.Process(target=limited, args=(words, folder))
        process.start()
        process.join(PATIENCE_S)
        process.kill()
        process.join()
        return Ended(process.exitcode, (folder / "stdout").read_text(), (folder / "stderr").read_text())


def archive(members, method=zipfile.ZIP_DEFLATED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return content.getvalue()


def laughs(levels, each):
    lines = ["a0: &a0 [lol]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * each)}]" for n in range(1, levels)]
    return "\n".join(lines)


def bzip2_bomb():
    content = bytearray(archive({"TOSCA-Metadata/TOSCA.meta": bytes(50_000_000)}, zipfile.ZIP_BZIP2))
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = (100).to_bytes(4, "little")
    return bytes(content)


META = "TOSCA-Metadata/TOSCA.meta"
TOSCA = "tosca_definitions_version: tosca_simple_yaml_1_2\n"
EXPERIMENT = "name: big\n"
VSPERF = ["run", "phy2phy_cont", "--vsperf", "--dry-run", "--conf", "FILE"]
FILES = {
    "laughs.csar": lambda: archive({META: laughs(10, 10), "top.yaml": TOSCA}),
    "bzip2.csar": bzip2_bomb,
    "deflate.csar": lambda: archive({META: "Entry-Definitions: top.yaml\n", "top.yaml": bytes(100_000_000)}),
    "laughs.yaml": lambda: (TOSCA + laughs(10, 10)).encode(),
    "scalar.yaml": lambda: (TOSCA + "description: " + "x" * 10**7).encode(),
    "deep.yaml": lambda: (TOSCA + "metadata: " + "[" * 10**5).encode(),
    "many.yml": lambda: ("a: [" + "[]," * 3_000_000 + "]").encode(),
    "key.yml": lambda: (EXPERIMENT + '"' + "k" * 1000 + '": 1').encode(),
    "name.yml": lambda: ("name: " + "n" * 9_000_000).encode(),
    "digits.yml": lambda: ("name: " + "9" * 9_000_000).encode(),
    "deep.json": lambda: b"[" * 10**6,
    "deeper.json": lambda: b'{"run":' * 10**6,
    "text.json": lambda: b'"' + b"x" * 10**7,
    "deep.conf": lambda: b"A = " + b"(" * 10**5,
    "sum.conf": lambda: b"A = 0" + b"+0" * 10**5,
    "minus.conf": lambda: b"A = " + b"-" * 10**5 + b"1",
    "long.conf": lambda: b"A = 0\n" * 10**6,
    "shift.conf": lambda: b"A = 1 << 10 ** 10\n",
    "times.conf": lambda: b"A = 'x' * 10 ** 10\n",
}
COMMANDS = {
    "laughs.csar": (["package", "FILE"], "aliases (*name) are not allowed here"),
    "bzip2.csar": (["package", "FILE"], "packed with bzip2"),
    "deflate.csar": (["package", "FILE"], "more than 200 times"),
    "laughs.yaml": (["package", "FILE"], "aliases (*name) are not allowed here"),
    "scalar.yaml": (["package", "FILE"], "more than 524288 bytes"),
    "deep.yaml": (["package", "FILE"], "nests too deeply"),
    "many.yml": (["plan", "FILE"], "holds too much"),
    "key.yml": (["plan", "FILE"], "unknown key"),
    "name.yml": (["plan", "FILE"], "name is not valid"),
    "digits.yml": (["plan", "FILE"], "a number of 9000000 digits"),
    "deep.json": (["import", "--dry-run", "FILE"], "no run that nfvbed exported"),
    "deeper.json": (["import", "--dry-run", "FILE"], "no run that nfvbed exported"),
    "text.json": (["import", "--dry-run", "FILE"], "no run that nfvbed exported"),
    "deep.conf": (VSPERF, "too many nested parentheses"),
    "sum.conf": (VSPERF, "nests too deeply"),
    "minus.conf": (VSPERF, "nests too deeply"),
    "long.conf": (VSPERF, "more than 262144 bytes"),
    "shift.conf": (VSPERF, "10"),
    "times.conf": (VSPERF, "10"),
}


def judged(done, said):
    assert done.returncode == EXIT, done.stdout[-2000:] + done.stderr[-2000:]
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert "where: " in done.stderr
    assert "fix: " in done.stderr
    assert len(done.stderr) < 20_000


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_without_bound_is_refused(name, tmp_path):
    words, said = COMMANDS[name]
    (tmp_path / name).write_bytes(FILES[name]())
    judged(run([word.replace("FILE", str(tmp_path / name)) for word in words]), said)


@pytest.mark.parametrize(
    "words",
    [
        ["package", "FILE"],
        ["plan", "./FILE"],
        ["import", "--dry-run", "FILE"],
        VSPERF,
        ["package", "vepc", "--image-file", "FILE"],
    ],
    ids=["descriptor", "experiment", "export", "settings", "image"],
)
def test_a_device_is_refused_unopened(words):
    done = run([word.replace("./FILE", "/dev/zero").replace("FILE", "/dev/zero") for word in words])
    judged(done, "it is a device")


@pytest.mark.parametrize(
    "words",
    [["package", "a." * 3000], ["plan", "./" + "a" * 3000], ["import", "a" * 3000]],
    ids=["package", "plan", "import"],
)
def test_a_name_that_is_too_long_for_a_file_is_refused(words, capsys):
    assert main(words) == EXIT
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert len(said) < 10_000


def test_standard_input_without_end_is_refused():
    done = run(["import", "--dry-run", "-"], stdin="/dev/zero")
    assert done.returncode == EXIT
    assert "more than 134217728 bytes" in done.stderr


def test_a_pipe_is_read_as_a_file_is():
    text = json.dumps({"format": "something"})
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    done = run(["import", "--dry-run", "/dev/fd/0"], stdin=f"/proc/{os.getpid()}/fd/{read}")
    os.close(read)
    judged(done, "no run that nfvbed exported")


def test_an_ordinary_file_is_read_with_this_memory():
    done = run(["plan", "demo", "--json"])
    assert done.returncode == 0, done.stderr
