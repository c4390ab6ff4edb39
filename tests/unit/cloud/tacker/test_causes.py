"""The chain of causes, from Heat's failed leaf resource to the instance's console."""

import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from openstack import exceptions as sdk

from nfvbed.cloud.tacker import causes
from nfvbed.cloud.tacker.reasons import Cause, advice_on, causes_in
from nfvbed.errors import OnboardError, UnsupportedError
from tests.unit.cloud.tacker.fake_cloud import FakeOrchestration, cloud, resource, server

GROUP = resource("machines", "OS::Heat::AutoScalingGroup", "inner", "CREATE_FAILED", "resources.machines: ...", True)
NO_HOST = 'ResourceInError: resources.VDU1: Went to status ERROR due to "Message: No valid host was found."'


def test_the_leaf_is_named_and_what_is_outside_of_it_is_not():
    leaf = resource("VDU1", "OS::Nova::Server", "s1", "CREATE_FAILED", NO_HOST)
    heat = FakeOrchestration(resources={"outer": [GROUP], "inner": [leaf]})
    failed = server("s1", "ERROR", {"message": "No valid host was found. There are not enough hosts available."})
    chain = causes.of_stack(cloud(heat, [failed]), "outer")
    assert chain[0] == f"Heat: OS::Nova::Server VDU1 CREATE_FAILED: {NO_HOST}"
    assert chain[1].startswith("Nova: server name of s1 is ERROR: No valid host was found.")
    assert not any("AutoScalingGroup" in one for one in chain)


def test_a_group_that_failed_before_it_had_anything_is_named_itself():
    heat = FakeOrchestration(resources={"outer": [GROUP], "inner": []})
    assert causes.of_stack(cloud(heat), "outer") == (
        "Heat: OS::Heat::AutoScalingGroup machines CREATE_FAILED: resources.machines: ...",
    )


def test_a_port_that_was_not_bound_and_the_console_are_in_the_chain():
    leaf = resource("VDU1", "OS::Nova::Server", "s1", "CREATE_FAILED", "state changed")
    port = SimpleNamespace(
        id="p1", name="CP1", device_id="s1", binding_vif_type="binding_failed", binding_host_id="controller"
    )
    heat = FakeOrchestration(resources={"outer": [leaf]})
    chain = causes.of_stack(cloud(heat, [server("s1", "ERROR")], [port], "one\n\n two \nthree"), "outer")
    assert "Neutron: port CP1 on controller: binding_failed" in chain
    assert chain[-1] == "console: one | two | three"


def test_what_goes_on_still_is_said_where_nothing_has_failed():
    going_on = resource("VDU1", "OS::Nova::Server", "s1", "CREATE_IN_PROGRESS", "state changed")
    heat = FakeOrchestration(resources={"outer": [going_on]})
    assert causes.of_stack(cloud(heat, [server("s1", "BUILD")]), "outer") == (
        "Heat: OS::Nova::Server VDU1 is CREATE_IN_PROGRESS",
        "Nova: server name of s1 is BUILD",
    )


def test_an_error_on_the_way_is_said_and_no_stack_has_no_cause():
    def refuse(stack):
        raise sdk.SDKException("Heat does not answer")

    heat = FakeOrchestration()
    heat.resources = refuse
    assert causes.of_stack(cloud(heat), "outer") == ("the causes could not be read: Heat does not answer",)
    assert causes.of_stack(cloud(heat), "") == ()


def test_an_error_keeps_its_kind_and_says_what_became_of_the_vnf():
    failure = OnboardError("VNF a failed", where="VNF 1", observed="Tacker: no")
    told = causes.told(failure, ("Heat: b", "Heat: b"))
    assert (told.what, told.where, told.observed) == ("VNF a failed", "VNF 1", "Tacker: no; Heat: b")
    assert "what was made of it is removed" in told.fix
    assert "heal or remove it" in causes.told(failure, (), stays=True).fix
    refused = UnsupportedError("no", fix="the role `x`")
    assert isinstance(causes.told(refused, ("Heat: b",)), UnsupportedError)
    assert causes.told(refused, ()).fix == "the role `x`"


SAID = yaml.safe_load((Path(__file__).parent / "recorded" / "said.yml").read_text())
"""What services' released source says, by kind of cause."""


def filled(text):
    return re.sub(r"%(?:\(\w+\))?(?:l*u|s|d|\.\d+f)", "10.0.0.7", text)


@pytest.mark.parametrize("said", SAID, ids=lambda said: f"{said['service']} {said['version']} {said['text'][:30]}")
def test_each_text_of_a_service_is_its_own_cause_and_no_other(said):
    wrapped = f"Heat: OS::Nova::Server VDU1 CREATE_FAILED: BadRequest: resources.VDU1: {filled(said['text'])}"
    assert causes_in((wrapped,)) == (Cause(said["kind"]),)


def test_every_cause_has_a_text_and_an_advice_of_its_own():
    kinds = Counter(said["kind"] for said in SAID)
    assert set(kinds) == set(Cause)
    texts = {kind: next(said["text"] for said in SAID if said["kind"] == kind) for kind in kinds}
    assert len({advice_on((filled(text),)) for text in texts.values()}) == len(Cause)


@pytest.mark.parametrize(
    "text",
    [
        "Heat: OS::Nova::Server VDU1 CREATE_FAILED: BadRequest: Volume v is not available",
        "console: sshd: Forbidden, 403 Forbidden, Unauthorized",
        "Nova: server v is ERROR: Forbidden: Policy doesn't allow it",
        "Nova: server v is ERROR: Unauthorized: The request you have made requires authentication.",
        "Heat: OS::Neutron::Port CP1 CREATE_FAILED: NotFound: port 403-401 is not there",
    ],
)
def test_no_role_and_no_password_for_other_words_and_for_other_peoples_credentials(text):
    """What Nova is refused is not refused to these credentials; a guest's console is no service."""
    found = causes.told(OnboardError("VNF a failed"), (text,)).fix
    assert "role" not in found and "password" not in found
    assert found.startswith("correct the cause")


def test_what_nova_adds_to_a_cause_is_no_second_one():
    chain = (f"Heat: {NO_HOST}", "Nova: server v is ERROR: Build aborted: Failed to allocate the network(s)")
    assert causes_in((*chain, "Neutron: port p on compute1: binding_failed")) == (Cause.BINDING,)


def test_a_zone_that_is_not_there_is_told_with_those_that_are():
    leaf = resource("VDU1", "OS::Nova::Server", "", "CREATE_FAILED", "The requested availability zone is not available")
    heat = FakeOrchestration(resources={"outer": [leaf]})
    asked = cloud(heat)
    zones = [SimpleNamespace(name=name, state={"available": up}) for name, up in (("nova", True), ("old", False))]
    asked.compute.availability_zones = lambda: zones
    chain = causes.of_stack(asked, "outer")
    assert chain[-1] == "Nova: its availability zones are nova"

    def refuse():
        raise sdk.SDKException("no")

    asked.compute.availability_zones = refuse
    assert causes.of_stack(asked, "outer") == chain[:-1], "the cause itself is not hidden"
    assert "availability zone" in causes.told(OnboardError("VNF a failed"), chain).fix


def test_a_lacking_role_is_named():
    observed = "Heat: OS::Nova::Flavor VDU1_flavor CREATE_FAILED: Forbidden: Policy doesn't allow it"
    told = causes.told(OnboardError("VNF a failed"), (observed,))
    assert told.fix.startswith("these credentials need the role `admin`")
