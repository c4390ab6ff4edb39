"""From the dashboard's own answers to the rows of Horizon's panel."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.deployments import DeploymentsAnswer, DeploymentState, OnboardedVnf, UnreadableSite
from nfvbed.store import Store
from nfvbed_horizon.rows import deployments_of, runs_of
from nfvbed_horizon.trouble import Trouble
from tests.dashboard_runs import ELSEWHERE, EVIL, two_variants, with_many
from tests.sample_records import RUN

URL = "http://127.0.0.1:8080"
INSTANCE, STACK = "3f6b5a52-0f1e-4a0c-8f0b-1c1f2e9d6b01", "3f6b5a52-0f1e-4a0c-8f0b-1c1f2e9d6b02"
SINCE = "2026-11-23T12:34:56+00:00: nfvbed onboard vloop"
VNF = OnboardedVnf(
    name="vnf1",
    kind="vm",
    forwarding="io",
    host="controller",
    instance=INSTANCE,
    stack=STACK,
    tacker_api="legacy",
    tacker_id="t-1",
)
HERE = DeploymentState(
    site="devcloud", id="a", variant="ovs-dpdk", topology="pvp", computes=("controller",), vnfs=(VNF,), since=SINCE
)
LAB = DeploymentState(
    site="a-lab", id="b", variant="linux-bridge", topology="p2p", computes=(), vnfs=(), since="2026-01-01T00:00:00Z: x"
)


def answer(*deployments, failed=()):
    """Return what the API answers, as JSON is read."""
    return json.loads(DeploymentsAnswer(deployments=deployments, not_readable=failed).model_dump_json())


@pytest.fixture(scope="module", name="overview")
def _overview(tmp_path_factory):
    path = tmp_path_factory.mktemp("panel") / "nfvbed.sqlite"
    two_variants(path)
    with_many(path)
    with Store.open(path, read_only=True, migrated=False) as store:
        client = TestClient(make_app(store, Access(hosts=("localhost",))), base_url="http://localhost")
        return client.get("/api/overview").json()


def test_this_clouds_deployment_comes_first_with_links_to_what_it_has():
    found = deployments_of(answer(LAB, HERE), ("devcloud",))
    assert [(row.site, row.is_here) for row in found.rows] == [("devcloud", True), ("a-lab", False)]
    (row, lab) = found.rows
    assert (row.variant, row.topology, row.computes, row.since) == ("ovs-dpdk", "pvp", "controller", "2026-11-23 12:34")
    (vnf,) = row.vnfs
    assert (vnf.name, vnf.what, vnf.host) == ("vnf1", "vm, io", "controller")
    assert (vnf.instance, vnf.stack, vnf.tacker) == (INSTANCE, STACK, "legacy t-1")
    assert (lab.vnfs, lab.computes) == ((), "")


def test_what_is_of_another_cloud_is_not_linked():
    ((vnf,),) = (row.vnfs for row in deployments_of(answer(HERE), ()).rows)
    assert (vnf.instance, vnf.stack, vnf.host) == ("", "", "controller")


@pytest.mark.parametrize("identifier", ["../../auth/logout", "", EVIL, "x" * 36])
def test_what_is_no_id_is_not_linked(identifier):
    evil = HERE.model_copy(update={"vnfs": (VNF.model_copy(update={"instance": identifier, "stack": identifier}),)})
    ((vnf,),) = (row.vnfs for row in deployments_of(answer(evil), ("devcloud",)).rows)
    assert (vnf.instance, vnf.stack) == ("", "")


def test_a_site_that_cannot_be_read_is_reported():
    failed = UnreadableSite(site="devcloud", what="it cannot be read", observed="KeyError", fix="nfvbed destroy --all")
    (problem,) = deployments_of(answer(failed=(failed,)), ()).problems
    assert (problem.what, problem.observed, problem.fix) == (
        "Site devcloud: it cannot be read",
        "KeyError",
        "nfvbed destroy --all",
    )


def test_runs_have_their_verdicts_and_lead_into_the_dashboard(overview):
    found = runs_of(overview, URL)
    assert found.total == 3
    rows = {row.link.removeprefix(f"{URL}/runs/"): row for row in found.rows}
    row = rows[RUN]
    assert row.compare == f"{URL}/compare?runs={RUN}"
    assert row.state == "ok"
    shown = [change for change in overview["changes"] if change["run"] == RUN]
    assert len(row.verdicts) == len(shown) > 0
    for verdict, change in zip(row.verdicts, shown, strict=True):
        assert change["variant"] in verdict.text and change["words"] in verdict.text and change["times"] in verdict.text
        query = parse_qs(urlsplit(verdict.link).query)
        assert query["variants"] == [change["baseline"], change["variant"]]
        assert (query["runs"], query["baseline"]) == ([RUN], [change["baseline"]])
    assert sum(overview["decided"].values()) >= len(overview["changes"])
    assert ELSEWHERE in rows


def test_every_decided_difference_is_counted_though_not_all_are_shown(overview):
    for row in runs_of(overview, URL).rows:
        decided = overview["decided"][row.link.rpartition("/")[2]]
        if row.verdicts:
            assert row.note == ("" if decided == len(row.verdicts) else f"and {decided - len(row.verdicts)} more")
        else:
            assert row.note == (f"{decided} decided differences" if decided else "no difference was decided")


def test_a_run_without_verdicts_says_why(overview):
    identifier = overview["newest"][0]["run"]["id"]
    bare = {**overview, "changes": [], "decided": {}}
    assert {row.note for row in runs_of(bare, URL).rows} == {"the comparison shows them"}
    refused = {**bare, "not_compared": [f"run {identifier}: too many: trials"]}
    assert runs_of(refused, URL).rows[0].note == "not compared: too many: trials"


@pytest.mark.parametrize(
    "wrong", [{}, {"deployments": 1, "not_readable": []}, {"deployments": [{}]}, {"deployments": [1]}]
)
def test_an_answer_of_another_version_is_refused(wrong):
    with pytest.raises(Trouble) as caught:
        deployments_of(wrong, ())
    assert "/api/deployments" in caught.value.observed and "version" in caught.value.fix


@pytest.mark.parametrize(("days", "said"), [(2.2, "2 d"), (0.2, "5 h"), (0.01, "14 min"), (0.0001, "9 s"), (-1, "0 s")])
def test_an_age_is_written_in_its_largest_unit(overview, days, said):
    aged = {**overview, "newest": [{**overview["newest"][0], "age_days": days}]}
    assert runs_of(aged, URL).rows[0].age == said
