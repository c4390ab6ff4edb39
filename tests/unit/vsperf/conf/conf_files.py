"""Writes small files of VSPERF's form, with the forms that its stock files use."""

from pathlib import Path

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.vsperf.conf import VsperfSettings, read_settings

ROOT = Path(__file__).parents[4]
PROJECT = open_project(ROOT)

COMMON = """\
import os
import copy

ROOT_DIR = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../'))
PATHS = {}
LOG_DIR = '/tmp'
TEST_PARAMS = {}
"""
SWITCH = """\
RTE_TARGET = 'x86_64-native'
PATHS['vswitch'] = {
    'OvsDpdkVhost': {'type': 'src', 'src': {'path': os.path.join(ROOT_DIR, 'src/ovs/ovs/')}, 'bin': {'ctl': 'ovs-ctl'}},
}
PATHS['vswitch'].update({'OvsVanilla' : copy.deepcopy(PATHS['vswitch']['OvsDpdkVhost'])})
PATHS['vswitch']['OvsVanilla']['src']['path'] = os.path.join(ROOT_DIR, 'src_vanilla/ovs/ovs/')
VSWITCH = "OvsDpdkVhost"
"""
TESTS = """\
PERFORMANCE_TESTS = [
    {
        "Name": "phy2phy_cont",
        "Deployment": "p2p",
        "Description": "Own words",
        "Parameters" : {
            "TRAFFIC" : {
                "traffic_type" : "rfc2544_continuous",
                "frame_rate" : 100,
            },
        },
    },
]
"""


def settings_of(folder: Path, **files: str) -> VsperfSettings:
    """Read files given as `n03_traffic="TRAFFICGEN = ..."`; the n is dropped, and `.conf` is added."""
    return read_settings([write(folder, **files)])


def write(folder: Path, **files: str) -> Path:
    """Write the files into a folder of their own."""
    target = folder / "conf"
    target.mkdir(exist_ok=True)
    for name, text in files.items():
        (target / f"{name[1:]}.conf").write_text(text)
    return target


def reported(error: ConfigurationError, *parts: str) -> None:
    """Check that an error says all of it."""
    text = str(error)
    assert error.exit_code == 10
    for part in parts:
        assert part in text, f"{part!r} is not in\n{text}"
