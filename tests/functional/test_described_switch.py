"""A described switch that is a process between veth ports: nfvbed's own XDP switch, of which only a file is told.

What holds for every data plane is in `test_data_planes_conform.py`; the kernel's rules and sockets are its cases.
"""

import os
import signal

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.errors import SwitchDiedError
from nfvbed.records import NOT_SEPARABLE, PortKind, Readiness, Role
from nfvbed.records.readings import Part
from tests.functional.deployed_plane import Case, deployed
from tests.functional.disturbed import death_of, pass_all
from tests.functional.test_data_planes_conform import each_counted

pytestmark = pytest.mark.no_hugepages


def described(folder, **more):
    """The switch as a file has it; what it leaves outside of the deployment is a file in a folder."""
    options = {
        "dataplane": "described-switch",
        "ports": {"kind": "veth"},
        "process": {
            "run": [
                "{native}/xdpswitch/nfvbed-xdp-switch",
                *("--socket", "{directory}/described.sock"),
                {"for_each_port": ["--port", "{port}"]},
                {"for_each_cable": ["--cable", "{first}:{second}"]},
                *("--station", "02:4e:46:56:00:00", "--station", "02:4e:46:56:00:01"),
            ]
        },
        "ready": {"path": "{directory}/described.sock"},
        "start": [["touch", f"{folder}/left-{{id}}"]],
        "stop": [["rm", f"{folder}/left-{{id}}"]],
        **more,
    }
    return CATALOGUE.variant_model.model_validate(
        {"name": "described", "title": "t", "topologies": ["p2p"], "port_kind": PortKind.VETH, "options": options}
    )


@pytest.fixture(name="plane")
def _plane(tmp_path):
    with deployed(Case(described(tmp_path), "p2p"), tmp_path) as plane:
        yield plane


def counted(plane):
    frames = plane.counted.frames
    return pass_all(plane.generator, plane.counted, plane.look, lambda passage: each_counted(passage, frames))


def test_its_frames_are_counted_its_work_is_measured_and_its_end_is_complete(plane, tmp_path):
    passage = counted(plane)
    assert passage.after.counters.busy_cycles != NOT_SEPARABLE
    assert passage.after.counters.busy_cycles > passage.before.counters.busy_cycles
    assert passage.after.counters.source.endswith("that of the process")
    threads = plane.site.look(plane.deployment, Part.THREADS).threads
    pids = {thread.pid for thread in threads if thread.role is Role.SWITCH}
    assert plane.process.pid in pids
    assert len(pids) > 1, "the process's, and the links'"

    first = plane.process.pid
    assert "killed" in plane.site.reset(plane.deployment, 0).kind
    assert plane.process.pid != first
    counted(plane)

    os.kill(plane.process.pid, signal.SIGKILL)
    assert "signal 9" in death_of(lambda: plane.site.verify(plane.deployment)).observed
    with pytest.raises(SwitchDiedError):
        plane.adapter.verify(plane.deployment)
    assert list(tmp_path.glob("left-*"))
    plane.destroy()
    assert not list(tmp_path.glob("left-*")), "the ledger has run its command of the end"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"start": [["false"]]}, "a command of the variant's file fails"),
        ({"ready": {"path": "{directory}/none.sock", "within_s": 0.5}}, "none.sock does not appear"),
        ({"ready": {"run": ["false"], "within_s": 0.5}}, "false does not show that it is ready"),
        (
            {
                "process": {"run": ["sleep", "60"], "threads": {"named": "nobody"}},
                "ready": {"path": "{directory}", "within_s": 0.5},
            },
            "no thread of it forwards",
        ),
    ],
)
def test_what_does_not_come_up_is_named_and_leaves_nothing(lab, tmp_path, more, says):
    support = lab.probe(described(tmp_path, **more))
    assert support.readiness is Readiness.UNSUPPORTED
    assert says in support.reason
    assert not list(tmp_path.glob("left-*"))
