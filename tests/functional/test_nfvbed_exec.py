# SPDX-License-Identifier: Apache-2.0
"""nfvbed-exec puts a program in its place before its first instruction."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from tests.functional.disturbed import PATIENCE_S, wait_until
from tests.functional.xdp_driver import make_namespace

pytestmark = pytest.mark.no_hugepages

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUSYBOX = ROOT / ".nfvbed/qemu/boot/busybox"
EXEC = os.environ.get("NFVBED_EXEC", str(ROOT / "native/build/exec/nfvbed-exec"))


def _run(*arguments):
    return subprocess.run([EXEC, *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False)


@pytest.fixture(name="netns")
def _netns():
    name = f"nfvtx{os.getpid()}"
    make_namespace(name)
    yield name
    subprocess.run(["ip", "netns", "delete", name], check=True)


@pytest.fixture(name="cgroup")
def _cgroup():
    for root in ("/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if pathlib.Path(root, "cgroup.procs").exists():
            break
    else:
        pytest.fail("no control group hierarchy is mounted under /sys/fs/cgroup")
    path = pathlib.Path(root) / f"nfvtx{os.getpid()}"
    path.mkdir()
    yield path
    path.rmdir()


def _is_gone(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_exit_status_is_the_programs_own():
    """Nothing is deployed between the program and its caller."""
    assert _run("sh", "-c", "exit 7").returncode == 7
    assert _run("--", "true").returncode == 0


def test_arguments_arrive_as_they_are():
    """No shell: spaces, quotes and options of the program are left alone."""
    result = _run("printf", "%s|", "a b", "$HOME", "'", "--netns")
    assert result.stdout == "a b|$HOME|'|--netns|"


def test_it_is_replaced_by_the_program():
    """The caller's child is the program itself, so its process id is the one to watch and to stop."""
    with subprocess.Popen([EXEC, "sh", "-c", "echo $$"], stdout=subprocess.PIPE, text=True) as child:
        assert int(child.communicate(timeout=PATIENCE_S)[0]) == child.pid


def test_network_namespace(netns):
    """The program sees the namespace's own interfaces."""
    inside = _run("--netns", f"/run/netns/{netns}", "ip", "-o", "link").stdout
    assert "lo:" in inside and len(inside.splitlines()) == 1


def test_cores():
    """Affinity is set before the program starts."""
    core = max(os.sched_getaffinity(0))
    status = _run("--cores", str(core), "cat", "/proc/self/status").stdout
    assert f"Cpus_allowed_list:\t{core}\n" in status


def test_cgroup(cgroup):
    """The program is in the group from its first instruction on."""
    result = _run("--cgroup", str(cgroup), "cat", "/proc/self/cgroup")
    assert cgroup.name in result.stdout


def test_stdout_goes_to_the_file(tmp_path):
    """Only standard output; what was in the file before is gone."""
    target = tmp_path / "out.txt"
    target.write_text("old old old old")
    result = _run("--stdout", str(target), "sh", "-c", "echo new; echo error >&2")
    assert target.read_text() == "new\n"
    assert (result.stdout, result.stderr) == ("", "error\n")


def test_mount_namespaces(tmp_path):
    """A mount made inside a new namespace is not seen outside, and can be entered by another program."""
    script = f"mount -t tmpfs nfvtx {tmp_path} && touch {tmp_path}/inside && echo ready && cat"
    with subprocess.Popen(
        [EXEC, "--new-mount-ns", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "ready\n"
        assert not (tmp_path / "inside").exists()
        result = _run("--mountns", f"/proc/{holder.pid}/ns/mnt", "ls", str(tmp_path))
        holder.stdin.close()
        assert result.stdout == "inside\n"


def test_a_root_of_its_own(tmp_path):
    """The program sees the root's files, and of the machine's only what it needs to be watched and to be spoken to."""
    for name in ("bin", "dev", "proc", "run", "sys", "tmp", "var/run"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, tmp_path / "bin/busybox")
    result = _run("--root", str(tmp_path), "/bin/busybox", "ls", "/", "/proc/self/exe", "/dev/null", "/sys/kernel")
    assert result.stdout.split("/:\n")[1].split("\n\n")[0].split() == ["bin", "dev", "proc", "run", "sys", "tmp", "var"]
    assert "/dev/null" in result.stdout and result.returncode == 0
    assert not pathlib.Path("/proc/mounts").read_text().count(str(tmp_path)), "its mounts end with it"


def test_die_with_parent():
    """A parent that is killed takes the program with it."""
    script = f"{EXEC} --die-with-parent sleep 60 & echo $!; wait"
    parent = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    started = wait_until(lambda: pathlib.Path(f"/proc/{pid}/comm").read_text() == "sleep\n")
    parent.kill()
    parent.communicate()
    gone = wait_until(lambda: _is_gone(pid))
    if not gone:
        os.kill(pid, signal.SIGKILL)
    assert started and gone, "it outlived its parent"


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["nfvtx-no-such-program"], 127, "No such file"),
        (["/etc/passwd"], 126, "Permission denied"),
        ([], 125, "no program"),
        (["--netns", "/nonexistent/ns", "true"], 125, "--netns /nonexistent/ns: cannot open: No such file"),
        (["--netns", "/etc/passwd", "true"], 125, "--netns /etc/passwd: cannot enter: Invalid argument"),
        (["--mountns", "/nonexistent/ns", "true"], 125, "--mountns /nonexistent/ns"),
        (["--cgroup", "/nonexistent", "true"], 125, "--cgroup /nonexistent/cgroup.procs: cannot open"),
        (["--cores", "1-0", "true"], 125, "--cores 1-0"),
        (["--cores", "1,", "true"], 125, "--cores 1,"),
        (["--cores", " 1", "true"], 125, "not a list"),
        (["--cores", "1023", "true"], 125, "--cores 1023: cannot run there"),
        (["--cores", "1024", "true"], 125, "--cores 1024"),
        (["--root", "/nonexistent", "true"], 125, "--root /nonexistent: cannot enter: No such file"),
        (["--root", "/usr/share/doc", "true"], 125, "--root /usr/share/doc: cannot have /dev in it: No such file"),
        (["--stdout", "/nonexistent/file", "true"], 125, "--stdout /nonexistent/file"),
    ],
)
def test_failures_name_option_path_and_reason(arguments, status, says):
    """As env(1): 127 not found, 126 not run, 125 our own."""
    result = _run(*arguments)
    assert result.returncode == status
    assert says in result.stderr


def test_an_unknown_option_is_refused():
    """Refuse it with nfvbed-exec's own status, and never take it for the program."""
    assert _run("--no-such-option", "true").returncode == 125
