"""What a machine of a box has of its own, and what this machine has to have for a box."""

import builtins
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.cloud.box import prechecks, procmodules
from nfvbed.cloud.box.box import Box
from nfvbed.cloud.box.furnish import UNITS_OF_MACHINES, UNITS_OF_SWITCH, furnish, furnish_layer
from nfvbed.cloud.box.keeper import command_line, isolated
from nfvbed.cloud.box.layout import SWITCH, layout_of
from nfvbed.cloud.box.prechecks import HostState
from nfvbed.cloud.box.root import sources, unpack_argv
from nfvbed.cloud.box.status import BoxStatus, ContainerState, MachineState, containers_of
from nfvbed.cloud.box.switch import PortState, _ranges
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.ledger.entries import CgroupEntry, DirectoryEntry, HugepagesEntry, ProcessEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.ledger.processes import start_time

CONTAINER = ContainerState("nova_compute", "10.10.0.1:5000/kolla/nova-compute:t", "Up 3 minutes (healthy)", True)
ENOUGH = HostState(20000, 60000, 2, True, (), "ext4", True, 0)


@pytest.mark.parametrize(
    ("line", "cores"),
    [
        ("root=box isolcpus=1 nohz_full=1", "1"),
        ("root=box isolcpus=domain,managed_irq,2-5,8 quiet", "2-5,8"),
        ("isolcpus=1 isolcpus=2,3", "2,3"),
        ("root=box hugepages=1", ""),
    ],
)
def test_isolated_cores_are_those_of_the_command_line(line, cores):
    assert isolated(line) == cores


def test_a_machine_without_a_menu_has_a_command_line_of_its_own():
    assert command_line("", "box") == "root=box-box"
    assert command_line("root=box isolcpus=1\n", "box") == "root=box isolcpus=1"


def link(path):
    return path.readlink() if path.is_symlink() else None


def test_the_switch_runs_what_machines_do_not(tmp_path):
    for name, away in ((SWITCH, UNITS_OF_MACHINES), ("compute1", UNITS_OF_SWITCH)):
        furnish_layer(tmp_path / name, name, {"compute1": "10.10.0.11"}, "6.1.0")
        masked = {path.name for path in (tmp_path / name / "etc/systemd/system").iterdir()}
        assert masked == set(away)
    layer = tmp_path / "compute1"
    assert (layer / "etc/hosts").read_text().splitlines() == ["127.0.0.1 localhost", "10.10.0.11 compute1"]
    assert "kernel/openvswitch.ko\n" in (layer / "usr/lib/modules/6.1.0/modules.builtin").read_text()


def test_a_root_is_furnished_twice_alike(tmp_path):
    for folder in ("etc/apt/sources.list.d", "etc/ssh"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "etc/apt/sources.list.d/mirror.list").write_text("deb https://somewhere trixie main\n")
    (tmp_path / "etc/ssh/ssh_host_rsa_key").write_text("everybody's")
    for _ in range(2):
        furnish(tmp_path)
    assert (tmp_path / "etc/apt/sources.list").read_text() == "deb [trusted=yes] file:/srv/apt ./\n"
    assert not list((tmp_path / "etc/apt/sources.list.d").iterdir())
    assert not list((tmp_path / "etc/ssh").glob("ssh_host_*"))
    assert str(link(tmp_path / "etc/systemd/system/systemd-sysctl.service")) == "/dev/null"
    assert os.access(tmp_path / "usr/sbin/update-grub", os.X_OK)


def test_modules_are_an_empty_list_where_the_kernel_has_none(monkeypatch):
    monkeypatch.setattr(builtins, "open", builtins.open)
    monkeypatch.setattr(procmodules, "_MODULES", "/proc/no-such-modules")
    procmodules.install()
    opening = builtins.open
    with opening("/proc/no-such-modules") as modules:
        assert modules.read() == ""
    with opening("/proc/self/comm") as comm:
        assert comm.read()


def test_everything_in_the_way_is_named_at_once():
    assert prechecks.problems(ENOUGH, has_root=True, hugepages=2304) == []
    found = prechecks.problems(
        HostState(8000, 3000, 1, False, ("ssh-keygen",), "overlay", False, 512), has_root=False, hugepages=1
    )
    assert [what for what, _, _ in found] == [
        "root privileges",
        "12288 MiB of memory",
        "17408 MiB of disk",
        "2 cores",
        "programs: ssh-keygen",
        "overlayfs",
        "a file system for layers",
        "an unused pool of hugepages",
    ]
    assert all(fix for _, _, fix in found)


def test_hugepages_are_looked_at_where_machines_ask_for_some():
    without = HostState(20000, 60000, 2, True, (), "ext4", True, None)
    assert prechecks.problems(without, has_root=True) == []
    (found,) = prechecks.problems(without, has_root=True, hugepages=2304)
    assert found[0] == "hugepages of 2 MiB"


def test_the_file_system_is_the_innermost_mount():
    mounts = "rootfs / overlay rw 0 0\n/dev/vda /work ext4 rw 0 0\ntmpfs /workshop tmpfs rw 0 0\n"
    assert prechecks._filesystem_of(Path("/work/x"), mounts) == "ext4"
    assert prechecks._filesystem_of(Path("/home"), mounts) == "overlay"


def test_sources_are_the_machines_own_mirror():
    found = sources("http://mirror/debian/|trixie|trixie\nhttp://mirror/debian/|trixie-updates|trixie-updates\n")
    assert [line.split()[-2] for line in found.splitlines()] == ["trixie", "trixie-updates"]
    assert "docker.io" in ",".join(unpack_argv(Path("/target"), Path("/sources")))


def test_vlans_are_ranges():
    assert _ranges(["set", [200, 201, 202, 0, 205]]) == "0,200-202,205"
    assert _ranges(7) == "7"
    assert _ranges(["set", []]) == ""


def box_in(tmp_path):
    return Box(tmp_path, layout_of(open_project().load_site("box")))


def test_a_box_that_never_started_is_down(tmp_path):
    box = box_in(tmp_path)
    assert not box.is_up() and box.find("compute1") is None and not box.stop()
    with pytest.raises(PrerequisiteError) as failure:
        box.require_space()
    assert failure.value.fix == "nfvbed rack start --site box"
    with pytest.raises(DeployError, match="machine compute1 of site box does not run"):
        box.machine("compute1")


def test_a_ledger_names_all_that_a_killed_start_left_behind(tmp_path):
    box = box_in(tmp_path)
    box.places.run.mkdir(parents=True)
    ledger = box._new_ledger()
    kinds = [type(entry) for entry in ledger.entries]
    assert kinds[0] is DirectoryEntry and set(kinds[1:]) <= {HugepagesEntry}
    (box.places.machines / "compute1").mkdir(parents=True)
    reopened = Ledger.open(box.places.run / "ledger.jsonl")
    assert reopened.undo_all() == [] and not box.places.machines.exists()


def test_a_machine_is_found_by_its_keeper_and_off_without_a_first_process(tmp_path):
    box = box_in(tmp_path)
    box.places.run.mkdir(parents=True)
    ledger = Ledger.create(box.places.run / "ledger.jsonl", this_process(persistent=True))
    ledger.record(CgroupEntry(path=str(tmp_path / "none")))
    me = os.getpid()
    log = str(tmp_path / "log")
    ledger.record(ProcessEntry(name="machine-compute1", pid=me, start_time=start_time(me) or 0, log=log))
    ledger.record(ProcessEntry(name="machine-compute2", pid=me, start_time=1))
    machine = box.find("compute1")
    assert machine is not None and machine.space == f"/proc/{me}/ns/net"
    assert box.find("compute2") is None  # another process has that number now
    with pytest.raises(DeployError, match="machine compute1 is off"):
        machine.boot()
    machine.places.state.write_text(json.dumps({"pid": me, "start_time": start_time(me), "starts": 3}))
    assert machine.boot().starts == 3
    assert machine.enter_argv(["hostname"])[-1] == "hostname"


def state(**changed):
    port = PortState("compute1-dp0", "sw-data", None, "0,200-299", "")
    machine = MachineState("compute1", "10.10.0.11", 7, 1, "running", (), (CONTAINER,))
    found = BoxStatus("box", True, (machine,), (port,), "10.10.0.1:5000", ("kolla/keystone",), ())
    return replace(found, **changed)


def test_a_box_is_well_where_machines_containers_and_ports_are():
    assert state().is_well and not state().is_down
    ended = MachineState("compute1", "", 7, 1, "running", (), (replace(CONTAINER, runs=False),))
    for changed in (
        {"up": False},
        {"machines": (ended,)},
        {"machines": (MachineState("compute1", "", 7, 1, "degraded", ("ssh.service",)),)},
        {"ports": (PortState("compute1-dp0", "sw-data", None, "", "could not open network device"),)},
        {"problems": ("the registry does not answer",)},
    ):
        assert not state(**changed).is_well, changed
    assert state(machines=(MachineState("compute1", "", None, 0, "off"),)).is_down


class AnsweringMachine:
    """A machine whose engine answers as Docker 26.1 does (`docker ps --format '{{json .}}'`)."""

    def check(self, *words):
        assert words[:3] == ("docker", "ps", "--all")
        return (
            '{"Command":"\\"dumb-init --single-…\\"","ID":"9d1","Image":"10.10.0.1:5000/kolla/mariadb-server:t",'
            '"Names":"mariadb","State":"running","Status":"Up 3 minutes (healthy)"}\n'
            '{"ID":"1f0","Image":"10.10.0.1:5000/kolla/cron:t","Names":"cron","State":"exited",'
            '"Status":"Exited (1) 2 minutes ago"}\n'
        )


def test_containers_are_read_of_the_engine():
    cron, mariadb = containers_of(AnsweringMachine())
    assert (cron.name, cron.runs, cron.status) == ("cron", False, "Exited (1) 2 minutes ago")
    assert mariadb.runs and mariadb.image.endswith("/kolla/mariadb-server:t")
