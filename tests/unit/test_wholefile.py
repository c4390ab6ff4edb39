"""Files are there whole or not at all, also where the disk runs full."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nfvbed.errors import StoreError
from nfvbed.wholefile import append_whole, is_full, write_output, write_whole
from tests.full_disk import run_on_small_disk


def test_a_file_is_made_with_the_rights_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "made", "text ä")
    finally:
        os.umask(before)
    assert (tmp_path / "made").read_text(encoding="utf-8") == "text ä"
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_a_file_that_is_there_keeps_its_rights_and_one_that_is_asked_for_gets_others(tmp_path):
    path = tmp_path / "kept"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)
    write_whole(path, b"newer", 0o644)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"newer", 0o644)


def test_a_link_stays_one(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    for content in (b"first", b"second"):
        write_whole(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "there" / "file").read_bytes() == content


def test_what_is_no_file_is_written_in_place(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_whole(tmp_path / "pipe", b"through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    write_whole(Path(os.devnull), b"gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_folder_that_is_not_there_is_named_by_the_file(tmp_path):
    with pytest.raises(StoreError) as caught:
        write_output(tmp_path / "none" / "file", b"", "the export")
    assert caught.value.what == "the export could not be written"
    assert caught.value.where == str(tmp_path / "none" / "file")
    assert caught.value.observed == os.strerror(errno.ENOENT)


def test_a_full_disk_is_told_from_other_faults():
    assert is_full(OSError(errno.ENOSPC, ""))
    assert is_full(OSError(errno.EDQUOT, ""))
    assert not is_full(OSError(errno.EACCES, ""))


WRITES = """
import errno, os, sys
from pathlib import Path
from nfvbed.wholefile import append_whole, write_whole

folder = Path(sys.argv[1])
(folder / "kept").write_bytes(b"old")
lines = folder / "lines"
for work in (lambda: write_whole(folder / "kept", bytes(10**6)), lambda: append_whole(lines, b"x" * 9999 + b"\\n")):
    try:
        for _ in range(100):
            work()
    except OSError as failure:
        print(errno.errorcode[failure.errno], Path(failure.filename).name)
print((folder / "kept").read_bytes(), set(map(len, lines.read_bytes().splitlines())), sorted(os.listdir(folder)))
"""


def test_a_disk_that_runs_full_leaves_what_was_there_and_no_draft_and_no_half_line(tmp_path):
    done = run_on_small_disk(tmp_path, WRITES)
    assert done.stdout.splitlines() == [
        "ENOSPC kept",
        "ENOSPC lines",
        "b'old' {9999} ['kept', 'lines']",
    ], done.stderr


def test_lines_of_several_writers_are_whole(tmp_path):
    path = tmp_path / "lines"

    def write(letter):
        for _ in range(20):
            append_whole(path, letter * 5000 + b"\n")

    writers = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = path.read_bytes().splitlines()
    assert len(lines) == 60
    assert set(lines) == {letter * 5000 for letter in (b"a", b"b", b"c")}


COMMAND = """
import os, sys
from pathlib import Path

folder = Path(sys.argv[1])
(folder / "filler").write_bytes(bytes(int(sys.argv[2])))
from nfvbed.cli import package
from nfvbed.cli.main import main

# The image need not be built for this.
package.checksums = lambda path: {"sha256": "a" * 64, "sha512": "b" * 128}
code = main([word.replace("DISK", str(folder)) for word in sys.argv[3:]])
print(code, sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()))
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["package", "vloop", "--output", "DISK/vloop.csar"], "the descriptor could not be written"),
        (["package", "vloop", "--form", "hot", "--output", "DISK/hot.yaml"], "the descriptor could not be written"),
        (["kolla", "render", "ovs-dpdk", "--site", "rack", "--output", "DISK/kolla"], "the files could not"),
    ],
    ids=["package", "template", "rendering"],
)
def test_commands_say_that_the_disk_is_full(words, said, tmp_path):
    done = run_on_small_disk(tmp_path, COMMAND, "65536", *words)
    assert done.stdout.startswith("30 "), done.stdout + done.stderr
    assert said in done.stderr
    assert os.strerror(errno.ENOSPC) in done.stderr
    assert "Traceback" not in done.stderr


LEDGER = """
import sys
from pathlib import Path
from nfvbed.host.ledger.entries import DirectoryEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process

folder = Path(sys.argv[1])
ledger = Ledger.create(folder / "ledger", this_process())
(folder / "filler").write_bytes(bytes(60000)[: -(folder / "ledger").stat().st_size])
made = 0
try:
    while True:
        ledger.record(DirectoryEntry(path=f"/none/{made}/" + "x/" * 350))
        made += 1
except OSError:
    print(made == len(ledger.entries) == len(Ledger.open(folder / "ledger").entries), made > 0)
    print(ledger.undo_all(), len(ledger.entries))
(folder / "filler").unlink()
ledger.record(DirectoryEntry(path="/none/y"))
print([entry.path for entry in Ledger.open(folder / "ledger").entries if len(entry.path) < 700])
"""


def test_a_ledger_on_a_full_disk_names_what_was_made_and_goes_on_when_there_is_room(tmp_path):
    done = run_on_small_disk(tmp_path, LEDGER)
    assert done.stdout.splitlines() == ["True True", "[] 0", "['/none/y']"], done.stdout + done.stderr


REPORT = """
import os, sys
from pathlib import Path
from nfvbed.compare.comparison import compare
from nfvbed.errors import StoreError
from nfvbed.report import files
from nfvbed.report.context import ReportContext
from tests.sample_records import build

folder = Path(sys.argv[1])
data = build()
files.figures = lambda comparison: {}
context = ReportContext(
    comparison=compare([data]), runs=(data.run,), hosts={data.run.host_hash: data.host}, rigs=data.rigs, facts=()
)
try:
    files.write_report(context, folder)
except StoreError as error:
    print(Path(error.where).name, "|", error.observed, "|", sorted(os.listdir(folder)))
"""


def test_a_report_on_a_full_disk_has_whole_tables_and_no_page(tmp_path):
    done = run_on_small_disk(tmp_path, REPORT)
    said = f"comparison.json | {os.strerror(errno.ENOSPC)} | ['comparison.csv', 'figures']"
    assert done.stdout.splitlines() == [said], done.stdout + done.stderr


def test_output_to_a_full_device_is_an_error_of_its_own():
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "nfvbed", "variants"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 30
    assert os.strerror(errno.ENOSPC) in done.stderr
