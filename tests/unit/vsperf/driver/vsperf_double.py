"""A double of VSPERF: a folder with a program that takes its options, loads generators as it does, writes its files."""

import subprocess
from pathlib import Path
from typing import Any

from nfvbed.host.arrangement import Arrangement

PROGRAM = '''\
"""A double of VSPERF, for nfvbed's tests: it starts no switch."""
import importlib.util
import os
import runpy
import sys

if "--version" in sys.argv:
    print("double 0.2")
    sys.exit(0)
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
conf = runpy.run_path(sys.argv[sys.argv.index("--conf-file") + 1])
(test,) = conf["PERFORMANCE_TESTS"]
assert test["Name"] == sys.argv[-1]
traffic = {"frame_rate": 100, "bidir": "True", "multistream": 0, "stream_type": "L4", "pre_installed_flows": "No",
           "flow_type": "port", "l3": {"enabled": True, "proto": "udp"}, "l4": {"enabled": True},
           "vlan": {"enabled": False}, **test["Parameters"]["TRAFFIC"]}
open(os.path.join(conf["RESULTS_PATH"], "vsperf-overall_2026-01-31_12-00-00.log"), "w").write("words of the double")
rows = []
for size in conf["TRAFFICGEN_PKT_SIZES"]:
    if conf["TRAFFICGEN"] == "Dummy":
        given = conf["TRAFFICGEN_DUMMY_RESULTS"]
        row = {"tx_rate_fps": given["frames tx"], "throughput_rx_fps": given["frames rx"]}
    else:
        (name,) = [n for n in os.listdir(conf["TRAFFICGEN_DIR"]) if n.endswith(".py")]
        spec = importlib.util.spec_from_file_location(name[:-3], os.path.join(conf["TRAFFICGEN_DIR"], name))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        generator = module.NfvGen()
        generator.connect()
        sized = {**traffic, "l2": {"framesize": size}}
        if traffic["traffic_type"] == "rfc2544_throughput":
            row = generator.send_rfc2544_throughput(sized, tests=1, duration=1, lossrate=0.0)
        else:
            row = generator.send_cont_traffic(sized, duration=1)
        generator.disconnect()
    row.update({"type": traffic["traffic_type"], "packet_size": size, "id": test["Name"], "deployment": "p2p",
                "vswitch": conf["VSWITCH"], "start_time": "2026-01-31 12:00:00", "stop_time": "2026-01-31 12:00:40"})
    rows.append(row)
with open(os.path.join(conf["RESULTS_PATH"], "result_0_%s_p2p.csv" % test["Name"]), "w") as file:
    file.write(",".join(rows[0]) + "\\n")
    for row in rows:
        file.write(",".join(str(value) for value in row.values()) + "\\n")
'''
GENERATOR = """\
class ITrafficGenerator:
    @property
    def traffic_defaults(self):
        return {}
"""
COMMON = """\
import os
ROOT_DIR = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../'))
PATHS = {'dpdk': {'type': 'src', 'src': {'path': os.path.join(ROOT_DIR, 'src/dpdk/')}}}
LOG_DIR = '/nowhere'
WHITELIST_NICS = []
PERFORMANCE_TESTS = [
    {"Name": "phy2phy_cont", "Deployment": "p2p", "Description": "Of the double",
     "Parameters": {"TRAFFIC": {"traffic_type": "rfc2544_continuous"}}},
    {"Name": "phy2phy_tput", "Deployment": "p2p", "Description": "Of the double", "Trafficgen": "IxNet",
     "Parameters": {"TRAFFIC": {"traffic_type": "rfc2544_throughput"}}},
    {"Name": "overlay", "Deployment": "op2p", "Description": "Of the double"},
    {"Name": "vpp", "Deployment": "p2p", "Description": "Of the double", "vSwitch": "VppDpdkVhost"},
]
"""


def make_double(folder: Path, program: str = PROGRAM) -> Path:
    """Write the double."""
    (folder / "conf").mkdir(parents=True)
    (folder / "conf" / "00_common.conf").write_text(COMMON)
    (folder / "core" / "loader").mkdir(parents=True)
    (folder / "core" / "loader" / "loader.py").write_text("")
    package = folder / "tools" / "pkt_gen" / "trafficgen"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(GENERATOR)
    (folder / "vsperf").write_text(program)
    return folder


class WorkspaceDouble:
    """A workspace without namespaces, cgroups and hugepages: its processes are plain children."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.id = directory.name
        self.argv: list[str] = []
        self.environment: dict[str, str] = {}
        self.closed = False

    def hugepages(self, mib: int) -> Path:
        return self.directory / "hugepages"

    def network_namespace(self, name: str) -> str:
        return f"/run/netns/{name}"

    def spawn(self, name: str, argv: list[str], **options: Any) -> "ProcessDouble":
        self.argv, self.environment = argv, dict(options["environment"])
        return ProcessDouble(self.directory / f"{name}.log", argv[argv.index("--") + 1 :], self.environment)

    def close(self) -> list[str]:
        self.closed = True
        return []


class ProcessDouble:
    """A process as a workspace gives it."""

    def __init__(self, log: Path, argv: list[str], environment: dict[str, str]) -> None:
        self.log = log
        with log.open("wb") as output:
            self._popen = subprocess.Popen(
                argv, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def alive(self) -> bool:
        return self._popen.poll() is None

    @property
    def exit_status(self) -> int | None:
        return self._popen.poll()

    def log_tail(self, lines: int = 20) -> str:
        return "\n".join(self.log.read_text().splitlines()[-lines:])


class SiteDouble:
    """A site that holds no lock and knows no host."""

    def __init__(self, *_: Any) -> None:
        pass

    def begin(self) -> None:
        pass

    def facts(self) -> dict[str, Any]:
        return {"host": "a double"}

    def close(self) -> None:
        pass


ARRANGEMENT = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,))
