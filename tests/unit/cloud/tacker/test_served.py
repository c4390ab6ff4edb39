"""Which APIs a Tacker has, by what its own routers answer."""

import pytest
from tackerclient.common import exceptions

from nfvbed.cloud.tacker import account, served
from nfvbed.cloud.tacker.api import OnboardRequest
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.sol import SolApi
from nfvbed.cloud.tacker.solv2 import SolV2Api
from nfvbed.errors import OnboardError, UnsupportedError
from tests.unit.cloud.tacker.fake_cloud import cloud
from tests.unit.cloud.tacker.fake_tacker import FakeTacker, refused


@pytest.mark.parametrize(
    ("lacks", "found"),
    [
        ((), (True, True, True)),
        (("legacy",), (False, True, True)),
        (("sol",), (True, False, False)),
        (("sol-v2",), (True, True, False)),
    ],
)
def test_an_api_that_is_not_there_is_answered_with_404(lacks, found):
    apis = served.probe(FakeTacker(lacks))
    assert (apis.legacy, apis.sol, apis.sol_v2) == found
    assert [apis.has("legacy"), apis.has("sol"), apis.has("sol-v2")] == list(found)


def test_an_api_that_is_refused_is_there():
    tacker = FakeTacker()
    tacker.list_vnfs = lambda: (_ for _ in ()).throw(refused(403))
    assert served.probe(tacker).legacy


@pytest.mark.parametrize("failure", [refused(500), refused(401), exceptions.ConnectionFailed(reason="refused")])
def test_a_tacker_that_does_not_answer_is_not_taken_for_one_without_the_api(failure):
    tacker = FakeTacker()
    tacker.list_vnfs = lambda: (_ for _ in ()).throw(failure)
    with pytest.raises(OnboardError, match="which APIs Tacker has failed"):
        served.probe(tacker)


def test_something_else_at_its_address_is_an_error():
    with pytest.raises(OnboardError, match="none of its APIs"):
        served.probe(FakeTacker(("legacy", "sol")))


@pytest.mark.parametrize(
    ("api", "lacks", "descriptor", "release"),
    [
        (LegacyApi, "legacy", {"a": 1}, "Tacker 10.0.0"),
        (SolApi, "sol", b"zip", "Tacker 3.0.0"),
        (SolV2Api, "sol-v2", b"zip", "Tacker 6.0.0"),
    ],
)
def test_onboarding_through_an_api_that_is_not_there_names_the_release_that_has_it(
    api, lacks, descriptor, release, monkeypatch, tmp_path
):
    monkeypatch.setattr(account, "tacker_client", lambda connection, version="1": FakeTacker((lacks,)))
    made = api(cloud(), Journal(tmp_path / "journal"))
    with pytest.raises(UnsupportedError) as failure:
        made.onboard(OnboardRequest("vnf1", "demo", descriptor), lambda line: None)
    assert release in failure.value.observed
    assert made.found("demo") == ()
