"""Three controllers with a virtual address: groups, variables, roles, and faults that keep them from being deployed."""

import pytest
import yaml

from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.preflight import record
from nfvbed.sites.kolla.preflight.checks import preflight
from nfvbed.sites.kolla.preflight.facts import MachineFacts, facts_of
from tests.unit.sites.kolla.orders import PROJECT, rendering, site
from tests.unit.sites.kolla.rack_facts import as_described

NAME = "rack-three-controllers"
CONTROLLERS = ["controller1", "controller2", "controller3"]
VIRTUAL = "10.10.0.250"


def findings(change=None, facts=None, variant="ovs-dpdk"):
    at = site(name=NAME)
    if change:
        data = yaml.safe_load((PROJECT.sites_folder / f"{NAME}.yml").read_text())
        change(data)
        at = site(yaml.safe_dump(data))
    told = as_described(at) | (facts(as_described(at)) if facts else {})
    return preflight(at, pinning_of(PROJECT, at, variant), PROJECT.load_kolla_release("2026.1"), told)


def with_facts(name, **changes):
    """Return a change of one machine's facts."""
    return lambda facts: {name: facts[name].model_copy(update=changes)}


def test_as_described_they_have_no_faults():
    assert findings() == []


def test_all_are_in_kolla_s_groups_in_the_file_s_order():
    groups = rendering("ovs-dpdk", at=site(name=NAME)).files["inventory/hosts"].split("\n\n")
    found = {lines[0]: lines[1:] for lines in (block.split("\n") for block in groups)}
    assert found["[control]"] == found["[network]"] == CONTROLLERS
    assert found["[compute]"] == ["compute1", "compute2"]


def test_keepalived_has_the_file_s_number_and_kolla_s_own_without_one():
    files = rendering("ovs-dpdk", at=site(name=NAME)).files
    globals_ = yaml.safe_load(files["globals.yml"])
    assert globals_["kolla_internal_vip_address"] == VIRTUAL
    assert globals_["keepalived_virtual_router_id"] == "61"
    assert "keepalived_virtual_router_id" not in yaml.safe_load(rendering("ovs-dpdk").files["globals.yml"])


@pytest.mark.parametrize("release", PROJECT.kolla_release_names)
def test_the_cloud_is_registered_by_one_and_the_panel_is_on_all(release):
    files = rendering("ovs-kernel", release, at=site(name=NAME)).files
    roles = [yaml.safe_load(files[f"inventory/host_vars/{name}.yml"])["nfvbed_roles"] for name in CONTROLLERS]
    everywhere = PROJECT.load_kolla_release(release).everywhere
    assert ["nfvbed_tacker" in one for one in roles] == [True, False, False]
    assert all(("nfvbed_horizon" in one) == ("nfvbed_horizon" in everywhere) for one in roles)


@pytest.mark.parametrize(
    ("change", "key", "observed"),
    [
        (lambda d: d["hosts"].pop("controller3"), "hosts", "controller1, controller2"),
        (lambda d: d.update(virtual_address="10.10.1.250"), "virtual_address", "controller1 has 10.10.0.7/24"),
        (lambda d: d["hosts"]["controller2"]["nics"].pop(2), "hosts.controller2.nics", "DHCP and routers"),
    ],
    ids=["an even number", "another network", "a controller without a network"],
)
def test_faults_of_the_file(change, key, observed):
    found = findings(change)
    assert {one.key.split(".yml ")[1] for one in found} == {key}
    assert observed in found[0].observed and all(one.stops for one in found)


@pytest.mark.parametrize(
    ("facts", "observed"),
    [
        (with_facts("controller2", virtual_at="52:54:00:00:00:99"), "52:54:00:00:00:99 answers controller2"),
        (with_facts("generator", addresses=("10.10.0.20", VIRTUAL)), "generator has it, and no keepalived runs"),
    ],
    ids=["somebody else's", "a machine's own"],
)
def test_a_virtual_address_that_is_taken(facts, observed):
    (found,) = findings(facts=facts)
    assert found.what == f"the virtual address {VIRTUAL} is not free" and observed in found.observed


def test_keepalived_s_own_is_no_fault():
    def deployed(facts: dict[str, MachineFacts]) -> dict[str, MachineFacts]:
        one, other = facts["controller1"], facts["controller2"]
        having = one.model_copy(update={"addresses": (*one.addresses, VIRTUAL), "runs_keepalived": True})
        return {"controller1": having, "controller2": other.model_copy(update={"virtual_at": "52:54:00:00:00:01"})}

    assert findings(facts=deployed) == []


@pytest.mark.parametrize(
    ("line", "mac"),
    [
        ("10.10.0.250 dev eth0 lladdr 52:54:00:00:00:99 REACHABLE", "52:54:00:00:00:99"),
        ("10.10.0.250 dev eth0 lladdr 52:54:00:00:00:99 STALE", ""),
        ("10.10.0.250 dev eth0 FAILED", ""),
        ("", ""),
    ],
)
def test_an_answer_counts_while_it_is_certain(line, mac):
    empty = {"status": 0, "out": "", "said": ""}
    document = {
        "files": {},
        "answers": {"links": empty, "routes": empty, "addresses": {**empty, "out": "2: eth0    inet 10.10.0.7/24 x"}},
        "modules": {},
        "address": "10.10.0.7",
        "virtual": {"neighbour": line, "keepalived": True},
    }
    found = facts_of(document)
    assert (found.virtual_at, found.runs_keepalived, found.networks) == (mac, True, ("10.10.0.7/24",))


def test_the_machine_asks_until_the_kernel_is_certain(monkeypatch):
    said = iter(["127.0.0.9 dev x DELAY", "127.0.0.9 dev x INCOMPLETE", "127.0.0.9 dev x FAILED", "never"])
    monkeypatch.setattr(record, "answer", lambda argv: {"status": 0, "out": next(said), "said": ""})
    monkeypatch.setattr(record.time, "sleep", lambda _: None)
    assert record.neighbour("127.0.0.9") == "127.0.0.9 dev x FAILED"
