"""Operations and packages: failures of Tacker's that look like waiting."""

from types import SimpleNamespace

import pytest
from tackerclient.common.exceptions import TackerClientException

from nfvbed.cloud.tacker.operations import Operations
from nfvbed.cloud.tacker.packages import Packages
from nfvbed.cloud.tacker.tags import Tag
from nfvbed.errors import OnboardError
from tests.unit.cloud.tacker.fake_tacker import FakeTacker

pytestmark = pytest.mark.usefixtures("quick")
TAG = Tag("sol", "demo", "vloop", "abc")


@pytest.fixture(name="tacker")
def _tacker():
    return FakeTacker()


def operation(state, **others):
    """Return an operation as Tacker lists it."""
    return {"id": "o1", "startTime": "2026-11-23T00:00:00Z", "operationState": state, **others}


def test_an_operation_that_failed_says_what_tacker_says(tacker):
    def begin():
        tacker.operations.append(operation("FAILED_TEMP", error={"status": 500, "detail": "Heat\n said no"}))

    with pytest.raises(OnboardError) as raised:
        Operations(tacker, "i1").run("instantiate", begin)
    assert raised.value.observed == "Tacker: Heat said no"
    assert raised.value.what.endswith("ended as FAILED_TEMP")


@pytest.mark.usefixtures("impatient")
def test_an_operation_that_goes_on_for_ever_is_a_failure(tacker):
    with pytest.raises(OnboardError) as raised:
        Operations(tacker, "i1").run("instantiate", lambda: tacker.operations.append(operation("PROCESSING")))
    assert raised.value.what.endswith("stays PROCESSING")
    assert "when it was measured" in raised.value.observed


@pytest.mark.usefixtures("impatient")
def test_a_request_that_nothing_comes_of_is_a_failure(tacker):
    tacker.operations.append(operation("COMPLETED"))
    with pytest.raises(OnboardError, match="stays not begun"):
        Operations(tacker, "i1").run("instantiate", lambda: None)


@pytest.mark.usefixtures("impatient")
def test_a_stuck_operation_is_cancelled_as_soon_as_tacker_lets_it_and_failed(tacker):
    tacker.operations.append(operation("PROCESSING"))
    Operations(tacker, "i1").end()
    assert tacker.asked == [("cancel", "o1")] * 3 + [("fail", "o1")]


GOING = (
    "Unexpected API Error. Please report this at http://bugs.launchpad.net/tacker/ and attach the Tacker API log if "
    "possible.\n<class 'tacker.common.exceptions.{}'>"
)
"""What `expected_errors` of Tacker 8 answers, whatever the error was."""


def account(tacker):
    """Return what packages are asked for with."""
    return SimpleNamespace(tacker=tacker, note=lambda *words: None, ours=lambda tag, owner: tag.owner == owner)


def test_a_package_that_falls_back_is_a_failure(tacker):
    tacker.states = iter(["UPLOADING", "PROCESSING", "CREATED"])
    with pytest.raises(OnboardError) as raised:
        Packages(account(tacker)).upload(b"csar", TAG)
    assert "fell back to CREATED" in raised.value.observed
    assert "tacker-conductor" in raised.value.fix


@pytest.mark.usefixtures("impatient")
def test_a_package_that_stays_in_processing_is_a_failure(tacker):
    tacker.states = iter(["UPLOADING"])
    with pytest.raises(OnboardError, match="stays UPLOADING"):
        Packages(account(tacker)).upload(b"csar", TAG)


def test_the_same_package_is_taken_again_and_another_ones_is_not(tacker):
    tacker.states = iter(["ONBOARDED"])
    Packages(account(tacker)).upload(b"csar", TAG)
    assert Packages(account(tacker)).upload(b"csar", TAG)["id"] == "made"
    assert tacker.asked == [("upload", "made")]
    assert Packages(account(tacker)).of("other") == []


@pytest.mark.parametrize("part", ["VnfDeploymentFlavourNotFound", "VnfArtifactNotFound", "VnfPackageVnfdNotFound"])
def test_a_package_whose_parts_are_gone_is_gone(tacker, monkeypatch, part):
    answer = TackerClientException(status_code=500, message=GOING.format(part))
    tacker.states = iter(["ONBOARDED"])
    Packages(account(tacker)).upload(b"csar", TAG)
    tacker.update_vnf_package = lambda *_: None

    def fails(_):
        raise answer

    tacker.delete_vnf_package = lambda _: monkeypatch.setattr(tacker, "show_vnf_package", fails)
    Packages(account(tacker)).delete("made")
    assert Packages(account(tacker)).of("demo") == []


def test_another_fault_of_tacker_is_no_package_that_is_gone(tacker, monkeypatch):
    def fails(_):
        raise TackerClientException(status_code=500, message=GOING.format("DBConnectionError"))

    monkeypatch.setattr(tacker, "show_vnf_package", fails)
    with pytest.raises(OnboardError, match="failed"):
        Packages(account(tacker)).delete("made")
