"""`make hardware`: what is missing is said once and nothing is begun; else it measures, bundles and prints rows."""

import pytest

from demo import hardware
from nfvbed.errors import UnsupportedError
from nfvbed.records import Readiness, Support

NO_CABLES = {"readiness": Readiness.UNSUPPORTED, "reason": "no cables", "fix": "name them"}
LACKING = (Support(variant="ovs-dpdk-pci", **NO_CABLES), Support(variant="vpp-pci", **NO_CABLES))


def test_what_several_variants_lack_is_said_once():
    assert list(hardware.missing(LACKING, ())) == [
        "network ports on this machine's PCI bus: none (four are needed, cabled in pairs)",
        "ovs-dpdk-pci, vpp-pci: no cables; name them",
    ]
    assert "0000:3b:00.0, 0000:3b:00.1" in next(hardware.missing(LACKING, ("0000:3b:00.0", "0000:3b:00.1")))


@pytest.mark.parametrize("readiness", [Readiness.READY, Readiness.DEGRADED])
def test_one_variant_that_can_be_measured_is_enough(readiness: Readiness):
    assert list(hardware.missing((LACKING[0], Support(variant="vpp-pci", readiness=readiness)), ())) == []


def test_both_variants_of_the_experiment_are_asked_on_a_site_without_cables():
    found = hardware.supports("lab")
    assert [support.variant for support in found] == ["ovs-dpdk-pci", "vpp-pci"]
    assert all(support.readiness is Readiness.UNSUPPORTED and "no cables" in support.reason for support in found)


def test_nothing_is_begun_where_nothing_can_be_measured(monkeypatch, capsys):
    monkeypatch.setattr(hardware, "supports", lambda site: LACKING)
    monkeypatch.setattr(hardware, "measure", lambda *_: pytest.fail("it measures"))
    assert hardware.main(["--site", "lab"]) == UnsupportedError.exit_code
    assert "nothing was begun" in capsys.readouterr().err


def test_an_unknown_site_is_an_error_in_words(capsys):
    assert hardware.main(["--site", "nowhere"]) == 10
    assert "nowhere" in capsys.readouterr().err


def test_a_command_that_fails_ends_it_before_an_older_run_is_bundled():
    ran: list[str] = []

    def run(status: int):
        def command(words) -> int:
            ran.append(words[0])
            return status

        return command

    assert hardware.measure("lab", run(0)) == 0 and ran == ["run", "bundle", "verify-bundle"]
    ran.clear()
    assert hardware.measure("lab", run(13)) == 13 and ran == ["run"]
