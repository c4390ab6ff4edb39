"""Console, monitor, threads and probes of a virtual machine."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nfvbed.errors import OnboardError, UnsupportedError, VnfDiedError
from nfvbed.host.fitness import support_of
from nfvbed.host.qemu import vhost
from nfvbed.host.qemu.vhost import vhost_net_reason
from nfvbed.records import Readiness
from nfvbed.vnfs.numa import GuestPlacement
from nfvbed.vnfs.vm import launch, pinning, support
from nfvbed.vnfs.vm.console import Console
from nfvbed.vnfs.vm.monitor import Monitor
from nfvbed.vnfs.vm.startwait import StartWait
from tests.unit.vnfs.vm.vm_seat import choice


def alive():
    """QEMU that does not end."""


def within(seconds, proc=Path("/nowhere")):
    """A wait for a process whose threads are in a folder."""
    return StartWait(1, seconds, proc=proc)


def test_mark_is_found_among_what_a_terminal_is_sent(tmp_path):
    log = tmp_path / "console"
    log.write_bytes(b"\x1b[2J\x1b[1;1Hboot\r\nvloop: ready 1.0\r\n")
    assert Console(log).wait_for("vloop: ready", "", within(1), alive) == "vloop: ready 1.0"
    assert Console(log).tail(1) == "vloop: ready 1.0"


def test_guest_that_does_not_boot_is_reported_with_its_last_lines(tmp_path):
    log = tmp_path / "console"
    log.write_text("Linux version 6.1\n\nKernel panic - not syncing\n")
    with pytest.raises(OnboardError, match="did not boot within 0 s") as caught:
        Console(log).wait_for("ready", "", within(0), alive)
    assert "Kernel panic" in caught.value.observed


def waited(proc, *seconds):
    """Threads of process 1 that were ready to run and did not for so long."""
    for number, each in enumerate(seconds):
        (proc / f"1/task/{number}").mkdir(parents=True, exist_ok=True)
        (proc / f"1/task/{number}/schedstat").write_text(f"5 {round(each * 1e9)} 7\n")


def test_time_without_a_core_does_not_count_up_to_a_bound(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    waited(tmp_path, 3, 20)
    wait = StartWait(1, 100, began=now[0], before_s=20, proc=tmp_path)
    assert (wait.kept_s, wait.left_s) == (0, 100)
    waited(tmp_path, 3, 70)
    now[0] += 120
    assert (wait.kept_s, wait.left_s, wait.is_over) == (50, 30, False)
    now[0] += 40
    assert wait.is_over
    waited(tmp_path, 3, 2000)
    assert wait.kept_s == 300, "four times its limit in all"
    now[0] += 241
    assert wait.is_over


def test_guest_that_had_no_core_is_reported_as_such(tmp_path):
    waited(tmp_path, 9)
    wait = StartWait(1, 2, began=time.monotonic() - 100, proc=tmp_path)
    with pytest.raises(OnboardError, match="did not boot within 2 s, and 6 s more in which it had no core") as caught:
        Console(tmp_path / "none").wait_for("ready", "", wait, alive)
    assert caught.value.fix == "see what else runs on the host, and on the guest's cores"


def test_guest_that_prints_nothing(tmp_path):
    with pytest.raises(OnboardError) as caught:
        Console(tmp_path / "none").wait_for("ready", "", within(0), alive)
    assert caught.value.observed == "not a byte on its console"


def test_guest_that_gives_up_is_not_waited_for(tmp_path):
    log = tmp_path / "console"
    log.write_text("vloop: failed: no second port\n")
    with pytest.raises(OnboardError, match="gave up") as caught:
        Console(log).wait_for("vloop: ready", "vloop: failed:", within(60), alive)
    assert "no second port" in caught.value.observed


def test_guest_that_dies_is_not_waited_for(tmp_path):
    def dead():
        raise VnfDiedError("it is dead")

    with pytest.raises(VnfDiedError):
        Console(tmp_path / "none").wait_for("ready", "", within(60), dead)


class FakeQemu:
    """Answers as QEMU's monitor does, to one client at a time."""

    def __init__(self, path):
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(4)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self._talk(connection)

    def _talk(self, connection):
        version = {"qemu": {"major": 10, "minor": 0, "micro": 2}, "package": ""}
        with connection:
            self._say(connection, {"QMP": {"version": version, "capabilities": []}})
            for asked in self._documents(connection):
                answer = {"id": asked["id"]} if "id" in asked else {}
                if asked["execute"] == "bad":
                    answer["error"] = {"class": "GenericError", "desc": "there is no such thing"}
                else:
                    answer["return"] = [{"cpu-index": 0, "thread-id": 7}] if "cpus" in asked["execute"] else {}
                self._say(connection, answer)

    def _documents(self, connection):
        """Clients need not end a document with a new line."""
        text = ""
        while chunk := connection.recv(65536).decode():
            text += chunk
            while text.strip():
                try:
                    document, end = json.JSONDecoder().raw_decode(text.lstrip())
                except ValueError:
                    break
                text = text.lstrip()[end:]
                yield document

    def _say(self, connection, document):
        connection.sendall(json.dumps(document).encode() + b"\r\n")

    def close(self):
        self._server.close()


@pytest.fixture(name="qemu")
def _qemu(tmp_path):
    server = FakeQemu(tmp_path / "qmp")
    yield tmp_path / "qmp"
    server.close()


def test_monitor_is_asked_and_answers(qemu):
    for _ in range(2):  # a second client, after the first has let go
        with Monitor(qemu) as monitor:
            monitor.connect(5, alive)
            assert pinning.vcpu_threads(monitor.execute("query-cpus-fast")) == (7,)


def test_monitor_that_refuses_is_reported_in_its_words(qemu):
    with Monitor(qemu) as monitor:
        monitor.connect(5, alive)
        with pytest.raises(OnboardError, match="'bad'") as caught:
            monitor.execute("bad")
    assert "no such thing" in caught.value.observed


def test_monitor_that_does_not_answer(tmp_path):
    with Monitor(tmp_path / "none") as monitor, pytest.raises(OnboardError, match="does not answer"):
        monitor.connect(0, alive)


def test_monitor_is_closed_twice(qemu):
    monitor = Monitor(qemu)
    monitor.connect(5, alive)
    monitor.close()
    monitor.close()
    with pytest.raises(RuntimeError, match="closed"):
        monitor.execute("query-status")


def test_vcpus_are_in_order():
    answer = [{"cpu-index": 1, "thread-id": 12}, {"cpu-index": 0, "thread-id": 11}]
    assert pinning.vcpu_threads(answer) == (11, 12)


def test_threads_are_put_where_they_belong():
    allowed = sorted(os.sched_getaffinity(0))
    other = allowed[-1]
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        guest = GuestPlacement(vcpu_cores=((other,),), emulator_cores=(allowed[0],), nodes=())
        pinning.pin(child.pid, (child.pid,), guest, realtime=False)
        assert os.sched_getaffinity(child.pid) == {other}
        (thread, _) = pinning.work_threads(child.pid, (child.pid,))
        assert (thread.core, thread.role) == (other, "vnf")
        pinning.pin(
            child.pid, (), GuestPlacement(vcpu_cores=(), emulator_cores=(allowed[0],), nodes=()), realtime=False
        )
        assert os.sched_getaffinity(child.pid) == {allowed[0]}
    finally:
        child.kill()
        child.wait()


@pytest.fixture(name="three_threads")
def _three_threads():
    """A process with two threads beside its main one; gives their ids, the main one's first."""
    code = "import threading, time\nfor _ in range(2): threading.Thread(target=time.sleep, args=(60,)).start()\nprint()"
    with subprocess.Popen([sys.executable, "-uc", code], stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        yield sorted(int(task.name) for task in Path(f"/proc/{child.pid}/task").iterdir())
        child.kill()


@pytest.mark.parametrize("realtime", [True, False])
def test_every_vcpu_but_the_first_is_real_time_where_the_flavor_says_so(three_threads, monkeypatch, realtime):
    main, first, second = three_threads
    scheduled = []
    # Only root may: what would be asked of the kernel is looked at.
    monkeypatch.setattr(os, "sched_setscheduler", lambda tid, policy, param: scheduled.append((tid, policy, param)))
    core = min(os.sched_getaffinity(0))
    guest = GuestPlacement(vcpu_cores=((core,), (core,)), emulator_cores=(core,), nodes=())
    pinning.pin(main, (first, second), guest, realtime=realtime)
    assert scheduled == ([(second, os.SCHED_FIFO, os.sched_param(1))] if realtime else [])
    assert [os.sched_getaffinity(tid) for tid in three_threads] == [{core}] * 3


def test_thread_that_has_ended_is_left_out():
    assert pinning.work_threads(2**22 + 1, (2**22 + 2,)) == ()


def test_launcher_opens_files_for_the_program(tmp_path):
    path = tmp_path / "file"
    path.write_text("held")
    code = "import os; print(os.read(30, 9).decode(), os.read(31, 9).decode())"
    argv = [sys.executable, "-I", launch.__file__, f"30={path}", f"31={path}", "--", sys.executable, "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["held", "held"]


def test_probe_without_vfio_says_why(monkeypatch):
    monkeypatch.setitem(support._TRIED, "vf", (lambda: "no IOMMU group", "switch the IOMMU on"))
    found = support_of("vf", lambda: support.probe(choice(vnic="vf")))
    assert found.readiness is Readiness.UNSUPPORTED
    assert found.reason


def test_a_device_that_is_not_there_or_refuses_is_the_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(vhost, "_VHOST_NET", str(tmp_path / "none"))
    assert vhost_net_reason() == f"{tmp_path}/none: No such file or directory"
    (tmp_path / "no-device").touch()
    monkeypatch.setattr(vhost, "_VHOST_NET", str(tmp_path / "no-device"))
    assert vhost_net_reason().endswith("no-device opens, and refuses: Inappropriate ioctl for device")


def test_old_qemu_is_refused(tmp_path):
    class Old:
        version = "7.2.19"
        program = tmp_path

    with pytest.raises(UnsupportedError, match="too old"):
        support.usable(Old())
