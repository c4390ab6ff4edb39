"""What threads did between two looks at a /proc that is written for it."""

from pathlib import Path

from nfvbed.measure.telemetry.threads import Switches, look, used

STATUS = "Name:\tx\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{}\n"


def write(proc: Path, tid: int, ran: int, switches: tuple[int, int], flags: int = 0) -> None:
    folder = proc / "5" / "task" / str(tid)
    folder.mkdir(parents=True, exist_ok=True)
    # Fields 3 to 43 of proc(5): state, ..., flags (9), ..., utime (14), stime (15), ..., guest time (43).
    fields = ["S", *["0"] * 5, str(flags), *["0"] * 4, "30", "10", *["0"] * 28]
    (folder / "stat").write_text(f"{tid} (a (b) c) {' '.join(fields)}\n")
    (folder / "schedstat").write_text(f"{ran} 5 1\n")
    (folder / "status").write_text(STATUS.format(*switches))
    (proc / "stat").write_text("cpu 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")


def test_differences_and_kernel_threads(tmp_path: Path):
    write(tmp_path, 5, 1000, (10, 3))
    write(tmp_path, 6, 2000, (0, 0), flags=0x00200000)
    before = look([(5, 5), (5, 6), (5, 9)], tmp_path)
    write(tmp_path, 5, 4000, (17, 4))
    found = used(before, look([(5, 5), (5, 6), (5, 9)], tmp_path))
    assert set(found) == {(5, 5), (5, 6)}
    assert found[5, 5].switches == Switches(7, 1)
    assert found[5, 5].cpu.run_ns == 3000
    assert (found[5, 5].kernel, found[5, 6].kernel) == (False, True)
