"""The lab alone makes of what a probe raises or returns what it says of a variant."""

import subprocess

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, PrerequisiteError, UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.records import Readiness, Support
from nfvbed.sites.lab.machine import LabMachine

PROJECT = open_project()


class Plane:
    """A data plane whose probe is given."""

    def __init__(self, found):
        self.found = found

    def data_plane(self, variant):
        return self

    def probe(self, variant):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def machine(found):
    return LabMachine(PROJECT.load_site("lab"), PROJECT.root, Plane(found))


NETMAP = UnsupportedError("no netmap", observed="no device", fix="build it")
ROOT = PrerequisiteError("it needs root", fix="sudo")
PORT = DeployError("the port is not there", observed="none")


@pytest.mark.parametrize(
    ("found", "readiness", "reason", "fix"),
    [
        (Fitness(), Readiness.READY, "", ""),
        (Fitness(reason="7 functions"), Readiness.READY, "7 functions", ""),
        (Fitness(limited=True, reason="few pages", fix="more"), Readiness.DEGRADED, "few pages", "more"),
        (NETMAP, Readiness.UNSUPPORTED, "no netmap: no device", "build it"),
        (ROOT, Readiness.UNSUPPORTED, "it needs root", "sudo"),
        (PORT, Readiness.UNSUPPORTED, "the port is not there: none", ""),
    ],
)
def test_what_a_probe_found_is_the_lab_s_answer(found, readiness, reason, fix):
    variant = PROJECT.load_variant("linux-bridge")
    expected = Support(variant="linux-bridge", readiness=readiness, reason=reason, fix=fix)
    assert machine(found).probe(variant) == expected


def test_what_cannot_run_is_refused_before_it_is_deployed():
    with pytest.raises(UnsupportedError, match="linux-bridge cannot run here") as refused:
        machine(ROOT).require(PROJECT.load_variant("linux-bridge"))
    assert (refused.value.observed, refused.value.fix) == ("it needs root", "sudo")


def test_only_sites_make_support_of_a_probe():
    found = subprocess.run(
        ["git", "grep", "-lE", r"\b(support_of|Support)\(", "--", "nfvbed"],
        capture_output=True, text=True, check=True, cwd=PROJECT.root,
    ).stdout.split()  # fmt: skip
    assert [name for name in found if not name.startswith("nfvbed/sites/")] == [
        "nfvbed/host/fitness.py",
        "nfvbed/records/trial.py",
    ]
