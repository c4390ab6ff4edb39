"""A double of VSPERF: a folder with a program that takes its options, loads generators as it does, writes its files.

Its names are VSPERF's own, from the recorded lists of the newest release (`tests/unit/vsperf/released`).
"""

import subprocess
from pathlib import Path
from typing import Any

from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.vsperf.conf.released import releases
from tests.unit.vsperf.recorded import NEWEST, recorded

RELEASE = recorded(NEWEST)
INTERFACE = "tools.pkt_gen.trafficgen.ITrafficGenerator"
_PROGRAM = '''\
"""A double of VSPERF, for nfvbed's tests: it starts no switch."""
import importlib.util
import os
import runpy
import sys

options = [word for word in sys.argv[1:] if word.startswith("--")]
assert {option[2:].replace("-", "_").upper() for option in options} <= @OPTIONS@, options
if "--version" in sys.argv:
    print("double 0.2")
    sys.exit(0)
root = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, root)
conf = runpy.run_path(os.path.join(root, "conf", "00_common.conf"))
stock = {name for name in conf if name.isupper()}
given = runpy.run_path(sys.argv[sys.argv.index("--conf-file") + 1])
conf.update({name: value for name, value in given.items() if value is not None})
(test,) = conf["PERFORMANCE_TESTS"]
assert test["Name"] == sys.argv[-1]
assert set(test) <= @KEYWORDS@, test
parameters = {**conf["_PARAMS_LIST"], **test["Parameters"]}
# VSPERF refuses such a test: its check_test_params.
assert set(parameters) <= stock | {"NICS"}, sorted(set(parameters) - stock)
traffic = {**conf["TRAFFIC"], **parameters.pop("TRAFFIC", {})}
conf.update(parameters)
open(os.path.join(conf["RESULTS_PATH"], "vsperf-overall_2026-01-31_12-00-00.log"), "w").write("words of the double")
rows = []
for size in conf["TRAFFICGEN_PKT_SIZES"]:
    if conf["TRAFFICGEN"] == "Dummy":
        results = conf["TRAFFICGEN_DUMMY_RESULTS"]
        assert set(results) <= @DUMMY@, results
        row = {"tx_rate_fps": results["frames tx"], "throughput_rx_fps": results["frames rx"]}
    else:
        (name,) = [n for n in os.listdir(conf["TRAFFICGEN_DIR"]) if n.endswith(".py")]
        spec = importlib.util.spec_from_file_location(name[:-3], os.path.join(conf["TRAFFICGEN_DIR"], name))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        generator = module.NfvGen()
        generator.connect()
        sized = {**traffic, "l2": {**traffic["l2"], "framesize": size}}
        if traffic["traffic_type"] == "rfc2544_throughput":
            row = generator.send_rfc2544_throughput(
                sized, tests=conf["TRAFFICGEN_RFC2544_TESTS"], duration=1, lossrate=conf["TRAFFICGEN_LOSSRATE"]
            )
        else:
            row = generator.send_cont_traffic(sized, duration=1)
        generator.disconnect()
    row.update({"type": traffic["traffic_type"], "packet_size": size, "id": test["Name"], "deployment": "p2p",
                "vswitch": conf["VSWITCH"], "start_time": "2026-01-31 12:00:00", "stop_time": "2026-01-31 12:00:40"})
    assert set(row) <= @COLUMNS@, row
    rows.append(row)
with open(os.path.join(conf["RESULTS_PATH"], "result_0_%s_p2p.csv" % test["Name"]), "w") as file:
    file.write(",".join(rows[0]) + "\\n")
    for row in rows:
        file.write(",".join(str(value) for value in row.values()) + "\\n")
'''


def _program() -> str:
    """Return the double's program, which has VSPERF's own names to check what it is given and what it writes."""
    names = {
        "OPTIONS": RELEASE["options"],
        "KEYWORDS": RELEASE["keywords"],
        "DUMMY": RELEASE["dummy_results"],
        "COLUMNS": RELEASE["columns"],
    }
    text = _PROGRAM
    for key, values in names.items():
        text = text.replace(f"@{key}@", repr(set(values)))
    return text


PROGRAM = _program()


def _generator() -> str:
    """Return the interface of VSPERF's generators."""
    lines = ["class ITrafficGenerator:"]
    for method, arguments in RELEASE["interfaces"][INTERFACE].items():
        if method == "traffic_defaults":
            lines += ["    @property", "    def traffic_defaults(self):", "        return {}"]
        elif not method.startswith("__"):
            lines += [f"    def {method}({', '.join(['self', *arguments])}):", "        raise NotImplementedError"]
    return "\n".join(lines) + "\n"


EXTRA_TESTS = [
    {"Name": "overlay", "Deployment": "op2p", "Description": "Of the double"},
    {"Name": "tunnel", "Deployment": "ptunp", "Description": "Of the double"},
    {"Name": "vpp", "Deployment": "p2p", "Description": "Of the double", "vSwitch": "VppDpdkVhost"},
    {"Name": "phy2phy_own", "Deployment": "p2p", "Description": "With a generator of its own", "Trafficgen": "IxNet",
     "Parameters": {"TRAFFIC": {"traffic_type": "rfc2544_throughput"}}},
]  # fmt: skip


def _common() -> str:
    """Return all settings of the newest release with their defaults, in one file of its form."""
    tests = [{"Name": name, "Description": "Of VSPERF", **test} for name, test in RELEASE["tests"].items()]
    tests = [test for test in tests if "TestSteps" not in test]
    values = {**releases()[NEWEST].defaults, "PERFORMANCE_TESTS": [*tests, *EXTRA_TESTS]}
    del values["ROOT_DIR"]
    head = "import os\nROOT_DIR = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../'))\n"
    # As VSPERF writes it.
    lines = [f"{name} = {value!r}".replace("'$ROOT_DIR", "ROOT_DIR + '") for name, value in values.items()]
    return head + "\n".join(lines) + "\n"


def make_double(folder: Path, program: str = PROGRAM) -> Path:
    """Write the double."""
    (folder / "conf").mkdir(parents=True)
    (folder / "conf" / "00_common.conf").write_text(_common())
    (folder / "core" / "loader").mkdir(parents=True)
    (folder / "core" / "loader" / "loader.py").write_text("")
    package = folder / "tools" / "pkt_gen" / "trafficgen"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_generator())
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
