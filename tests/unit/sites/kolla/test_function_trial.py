"""Virtual functions made for a moment: the script over a double of sysfs, and what is said of its outcome."""

import pytest

from nfvbed.errors import DeployError
from nfvbed.sites.kolla.preflight import functions
from nfvbed.sites.kolla.preflight.functions import Trial, judged
from nfvbed.sites.kolla.preflight.functions_trial import Functions, tried
from tests.unit.sites.kolla.orders import site
from tests.unit.sites.kolla.rack_facts import as_described, with_port

NIC = site().hosts["compute1"].nics_of("sriov")[0]


class NicDouble(Functions):
    """A double of a NIC's folder in sysfs: as the kernel, it makes links, and refuses a change from some to others."""

    def __init__(self, folder, has=0, most=8, stuck=0):
        super().__init__(folder)
        self.most, self.stuck = most, stuck
        self.written = []
        (folder / "sriov_drivers_autoprobe").write_text("1\n")
        self._make(has)

    def _make(self, count):
        (self.folder / "sriov_numvfs").write_text(f"{count}\n")
        for link in self.folder.glob("virtfn*"):
            link.unlink()
        for number in range(count):
            (self.folder / f"virtfn{number}").symlink_to(f"../0000:af:10.{number}")

    def write(self, name, value):
        self.written.append((name, value))
        if name != "sriov_numvfs":
            super().write(name, value)
        elif int(value) > self.most:
            raise OSError(28, "No space left on device")
        else:
            self._make(max(int(value), self.stuck))


def test_functions_are_made_without_drivers_and_taken_away(tmp_path):
    nic = NicDouble(tmp_path)
    assert tried(nic, 8) == {"before": 0, "made": 8, "after": 0, "refused": ""}
    names = ["sriov_drivers_autoprobe", "sriov_numvfs"] * 2
    assert nic.written == list(
        zip(sorted(names[:2]) + ["sriov_numvfs", "sriov_drivers_autoprobe"], "0801", strict=True)
    )


def test_a_refusal_is_reported_and_everything_is_as_before(tmp_path):
    nic = NicDouble(tmp_path, most=4)
    assert tried(nic, 8) == {"before": 0, "made": 0, "after": 0, "refused": "sriov_numvfs: No space left on device"}
    assert nic.read("sriov_drivers_autoprobe") == "1"


@pytest.mark.parametrize(("has", "refused"), [(8, ""), (3, "it has 3, which may be in use: nothing was tried")])
def test_functions_that_are_there_are_left_alone(tmp_path, has, refused):
    nic = NicDouble(tmp_path, has=has)
    assert tried(nic, 8) == {"before": has, "made": has, "after": has, "refused": refused}
    assert nic.written == []


def test_the_outcome_is_judged():
    assert list(judged("compute1", NIC, "k", Trial(before=0, made=8, after=0))) == []
    (found,) = judged("compute1", NIC, "k", Trial(before=0, made=0, after=0, refused="sriov_numvfs: No space left"))
    assert (found.key, found.observed) == ("k", "sriov_numvfs: No space left")
    assert "asked for 8 virtual functions, and had 0" in found.what
    left = list(judged("compute1", NIC, "k", Trial(before=0, made=8, after=8)))
    assert [one.observed for one in left] == ["0 before, 8 after"]


def test_what_cannot_be_undone_is_seen(tmp_path):
    assert tried(NicDouble(tmp_path, stuck=2), 8)["after"] == 2


def test_computes_alone_are_tried_and_a_trial_that_fails_is_a_finding(tmp_path, monkeypatch):
    asked = []

    def double(way, pci, count, folder):
        asked.append((way.address, pci, count))
        if way.address == "10.10.0.12":
            raise DeployError("sudo failed on another host", observed="a password is required")
        return Trial(before=0, made=count, after=0)

    monkeypatch.setattr(functions, "tried", double)
    rack = site()
    (found,) = functions.try_functions(rack, as_described(rack), tmp_path)
    assert asked == [("10.10.0.11", "0000:af:00.0", 8), ("10.10.0.12", "0000:af:00.0", 8)]
    assert (found.machine, found.observed) == ("compute2", "a password is required")
    assert found.key == "deploy/sites/rack.yml hosts.compute2.nics[2].functions"
    few = {name: with_port(one, 2, total_functions=4) for name, one in as_described(rack).items() if "comp" in name}
    assert list(functions.try_functions(rack, few, tmp_path)) == [], "that is said of the facts already"
    assert len(asked) == 2
