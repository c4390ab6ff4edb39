"""The programs that roles run on machines, over a folder in place of /sys: hardware that no emulated machine has.

What is here beside them (ConnectX-3, governors, Mellanox NICs, missing memory) is a double: files as the kernel has
them, which take every value.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROLES = Path(__file__).resolve().parents[2] / "deploy" / "roles"
NIC = "0000:af:00.0"
MELLANOX, INTEL = "0x15b3", "0x8086"


class Machine:
    """A folder in place of /sys, with those of settings and of what is remembered."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sysfs = folder / "sys"
        self.root("proc/sys/kernel/random/boot_id", "first")
        self.root("proc/cmdline", "root=/dev/sda1")
        self.root("proc/meminfo", "Hugepagesize:       2048 kB")

    def root(self, path: str, content: str) -> None:
        """Write a file of the machine's."""
        file = self.folder / "root" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content + "\n")

    def put(self, path: str, content: str = "") -> Path:
        """Write a file of /sys."""
        file = self.sysfs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content + "\n")
        return file

    def settings(self, name: str, content: str) -> None:
        """Write what a role writes to /etc/nfvbed."""
        (self.folder / "etc").mkdir(exist_ok=True)
        (self.folder / "etc" / name).write_text(content)

    def nic(self, pci: str, vendor: str, driver: str, **files: str) -> None:
        """Have a NIC with a network device `data`."""
        place = f"bus/pci/devices/{pci}"
        for name, content in {"vendor": vendor, "net/data/flags": "0x1003", **files}.items():
            self.put(f"{place}/{name}", content)
        self.put(f"bus/pci/drivers/{driver}/bind")
        (self.sysfs / place / "driver").symlink_to(self.sysfs / "bus/pci/drivers" / driver)

    def run(self, program: str, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a role's program, `nfvbed_host/nfvbed-governor`."""
        role, _, name = program.partition("/")
        places = {
            "NFVBED_SYSFS": "sys",
            "NFVBED_SETTINGS": "etc",
            "NFVBED_BEFORE": "before",
            "NFVBED_FILES": "root",
        }
        return subprocess.run(
            [str(ROLES / role / "files" / name), *argv],
            env=os.environ | {key: str(self.folder / value) for key, value in places.items()},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )


@pytest.fixture(name="machine")
def _machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_governor_is_set_and_set_back(machine):
    first = machine.put("devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil")
    second = machine.put("devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave")
    machine.settings("governor.conf", "performance\n")
    assert machine.run("nfvbed_host/nfvbed-governor", "apply").stdout.count("changed:") == 2
    assert machine.run("nfvbed_host/nfvbed-governor", "apply").stdout == ""
    assert first.read_text() == second.read_text() == "performance\n"
    assert machine.run("nfvbed_host/nfvbed-governor", "undo").returncode == 0
    assert (first.read_text(), second.read_text()) == ("schedutil\n", "powersave\n")


def test_hugepages_that_the_kernel_does_not_give_are_an_error(machine):
    file = machine.put("devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "3")
    machine.settings("hugepages.conf", "0 2048 40\n")
    assert machine.run("nfvbed_host/nfvbed-hugepages", "apply").returncode == 0
    file.unlink()
    # A number that cannot be changed, as one that is too large cannot.
    file.symlink_to("/dev/null")
    machine.root("proc/sys/vm/compact_memory", "0")
    refused = machine.run("nfvbed_host/nfvbed-hugepages", "apply")
    assert (machine.folder / "root/proc/sys/vm/compact_memory").read_text() == "1\n"
    assert refused.returncode == 1 and "and not 40: too little free memory" in refused.stderr


@pytest.mark.parametrize(
    ("steps", "numbers"),
    [
        # A number is what the site's file says, `undo`, or `=N`: N pages, as another program sets them.
        ((40, "undo"), (40, 3)),
        ((40, 40, 20, "undo"), (40, 40, 20, 3)),
        ((2, "undo"), (3, 3)),
        ((40, "=100", 40, "undo"), (40, 100, 100, 100)),
        ((40, "=10", 40, "undo"), (40, 10, 40, 10)),
        (("=9000", 512, "undo"), (9000, 9000, 9000)),
        ((40, "boot", "=7", 40, "undo"), (40, 40, 7, 40, 7)),
    ],
)
def test_pages_of_others_stay(machine, steps, numbers):
    """A pool is never smaller than it is without the program's own pages."""
    file = machine.put("devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "3")
    for step, number in zip(steps, numbers, strict=True):
        if step == "boot":
            machine.root("proc/sys/kernel/random/boot_id", "second")
        elif isinstance(step, str) and step.startswith("="):
            file.write_text(step[1:] + "\n")
        else:
            machine.settings("hugepages.conf", f"0 2048 {step}\n" if isinstance(step, int) else "0 2048 40\n")
            done = machine.run("nfvbed_host/nfvbed-hugepages", "undo" if step == "undo" else "apply")
            assert done.returncode == 0, done.stderr
        assert int(file.read_text()) == number, f"{step} of {steps}"


def test_what_an_earlier_nfvbed_remembered_is_set_back(machine):
    file = machine.put("devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "40")
    (machine.folder / "before").mkdir()
    (machine.folder / "before/hugepages.before").write_text("0 2048 3\n")
    assert machine.run("nfvbed_host/nfvbed-hugepages", "undo").returncode == 0
    assert file.read_text() == "3\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"proc/cmdline": "quiet hugepages=2048"}, "hugepagesz=2M hugepages=2048 in its place"),
        ({"proc/cmdline": "hugepagesz=2M hugepages=2048"}, ""),
        ({"etc/sysctl.d/80-ovs.conf": "vm.nr_hugepages = 2048"}, "80-ovs.conf"),
        ({"etc/sysctl.conf": "# vm.nr_hugepages = 2048\nvm.nr_hugepages_mempolicy=1"}, ""),
        ({"proc/cmdline": "hugepages=24", "proc/meminfo": "Hugepagesize:    1048576 kB"}, ""),
    ],
)
def test_what_would_become_pages_of_1_gib_is_refused(two_cores, files, said):
    """Kolla's machines of 1 GiB pages have them as the default size, and other words then mean that."""
    two_cores.put("devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages", "0")
    for name, content in files.items():
        two_cores.root(name, content)
    done = two_cores.run("nfvbed_host/check-host", "before", "1", "False", "0:1048576:1")
    assert (said in done.stderr, done.returncode) == (True, 1 if said else 0), done.stderr
    assert two_cores.run("nfvbed_host/check-host", "before", "1", "False", "0:2048:40").returncode == 0


@pytest.fixture(name="two_cores")
def _two_cores(machine):
    machine.put("devices/system/cpu/present", "0-1")
    for core in (0, 1):
        machine.put(f"devices/system/cpu/cpu{core}/online", "1")
    machine.put("devices/system/node/online", "0")
    machine.put("devices/system/node/node0/meminfo", "Node 0 MemTotal:  2097152 kB")
    machine.put("devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "0")
    return machine


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("0-1", "False"), "no core would be left for the kernel"),
        (("1-3", "False"), "cores are to be isolated that are not there: 2 3"),
        (("1", "True"), "the firmware describes no IOMMU"),
        (("1", "False", "1:2048:1"), "there is no NUMA node 1"),
        (("1", "False", "0:1048576:1"), "NUMA node 0 can have no hugepages of 1048576 KiB"),
        (("1", "False", "0:2048:1024"), "hugepages of NUMA node 0 would be larger than its memory"),
    ],
)
def test_a_host_that_cannot_have_it_is_refused(two_cores, arguments, said):
    done = two_cores.run("nfvbed_host/check-host", "before", *arguments)
    assert done.returncode == 1
    assert said in done.stderr and "Observed:" in done.stderr and "Fix:" in done.stderr


def test_all_faults_of_a_host_are_said_at_once(two_cores):
    done = two_cores.run("nfvbed_host/check-host", "before", "2", "True", "1:2048:1")
    assert done.stderr.count("Fix:") == 3


def test_a_host_that_can_have_it_is_not_refused(two_cores):
    done = two_cores.run("nfvbed_host/check-host", "before", "1", "False", "0:2048:40")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_mellanox_nic_stays_with_the_kernels_driver(machine):
    machine.nic(NIC, MELLANOX, "mlx5_core", **{"iommu_group/type": "DMA"})
    done = machine.run("nfvbed_nics/check-nics", "none", f"{NIC}=vfio-pci")
    assert done.returncode == 1 and f"{NIC} is a Mellanox NIC" in done.stderr


def test_the_management_nic_below_a_bond_gets_no_other_driver(machine):
    machine.nic(NIC, INTEL, "ice", **{"iommu_group/type": "DMA"})
    machine.put("class/net/bond0/lower_data/flags", "0x1003")
    machine.put("class/net/data/flags", "0x1003")
    done = machine.run("nfvbed_nics/check-nics", "bond0", f"{NIC}=vfio-pci")
    assert done.returncode == 1 and "is the management NIC, which no data plane gets" in done.stderr
    other = machine.run("nfvbed_nics/check-nics", "none", f"{NIC}=vfio-pci")
    assert (other.returncode, other.stderr) == (0, "")


def test_vfio_needs_an_iommu(machine):
    machine.nic(NIC, INTEL, "ice")
    done = machine.run("nfvbed_nics/check-nics", "none", f"{NIC}=vfio-pci")
    assert done.returncode == 1 and "the kernel put it into no IOMMU group" in done.stderr


def test_functions_of_connectx_3_are_its_drivers_parameter(machine):
    machine.nic(NIC, MELLANOX, "mlx4_core", sriov_totalvfs="16", sriov_numvfs="0")
    machine.settings("sriov.conf", f"{NIC} 8 - -\n")
    assert machine.run("nfvbed_sriov/check-functions", f"{NIC}=8").stdout.split() == [NIC]
    number = machine.sysfs / "bus/pci/devices" / NIC / "sriov_numvfs"
    done = machine.run("nfvbed_sriov/nfvbed-sriov", "apply")
    assert f"restart: {NIC} has 0 functions, and 8 when mlx4_core is loaded again" in done.stdout
    assert number.read_text() == "0\n", "the kernel refuses to write it"


@pytest.mark.parametrize(
    ("driver", "total", "count", "said"),
    [
        ("ice", "0", 1, "can have no virtual functions"),
        ("ice", "4", 5, "sriov_totalvfs is 4"),
        ("vfio-pci", "4", 4, "has no driver that makes virtual functions"),
    ],
)
def test_functions_that_cannot_be_are_refused(machine, driver, total, count, said):
    machine.nic(NIC, INTEL, driver, sriov_totalvfs=total)
    done = machine.run("nfvbed_sriov/check-functions", f"{NIC}={count}")
    assert done.returncode == 1 and said in done.stderr


def test_open_vswitch_is_told_as_soon_as_its_database_answers(tmp_path):
    """A double of ovs-vsctl that the second call finds ready, as a container that is being made."""
    double, said = tmp_path / "ovs-vsctl", tmp_path / "said"
    double.write_text(
        f'#!/bin/sh\n[ -e "{tmp_path}/asked" ] || {{ touch "{tmp_path}/asked"; exit 1; }}\necho "$@" >"{said}"\n'
    )
    double.chmod(0o755)
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"vsctl": [str(double)], "values": {"other_config:pmd-sleep-max": "500"}}))
    program = ROLES / "nfvbed_ovs_dpdk" / "files" / "nfvbed-ovs-first"
    done = subprocess.run(
        [sys.executable, "-I", str(program), str(settings)], stdin=subprocess.DEVNULL, timeout=30, check=False
    )
    assert done.returncode == 0
    assert said.read_text() == "--no-wait --timeout=5 set Open_vSwitch . other_config:pmd-sleep-max=500\n"


@pytest.mark.parametrize(
    ("launch", "said"), [("def launch(conf, no_fork=False)", "no_fork=True"), ("def launch(conf)", "as ever")]
)
def test_the_macvtap_agent_is_started_in_one_process_where_it_can_be_told(tmp_path, launch, said):
    """Doubles of Neutron's entry point and of oslo.service, as releases with and without its threads have them."""
    known = tmp_path / "neutron-28.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: neutron\nVersion: 28\n")
    (known / "entry_points.txt").write_text("[console_scripts]\nneutron-macvtap-agent = double:main\n")
    (tmp_path / "double.py").write_text(
        "def main():\n    from oslo_service import service\n    service.launch('conf')\n"
    )
    (tmp_path / "oslo_service").mkdir()
    (tmp_path / "oslo_service" / "__init__.py").touch()
    told = "f'no_fork={no_fork}'" if "no_fork" in launch else "'as ever'"
    (tmp_path / "oslo_service" / "service.py").write_text(f"{launch}:\n    print({told})\n")
    program = ROLES / "nfvbed_macvtap_agent" / "files" / "neutron-macvtap-agent"
    done = subprocess.run(
        [sys.executable, str(program)],
        env={"PYTHONPATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{said}\n"), done.stderr
