"""The chain of causes, from Heat's failed leaf resource to the instance's console."""

from types import SimpleNamespace

from openstack import exceptions as sdk

from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.sites.openstack.tacker import causes
from tests.unit.sites.openstack.tacker.fake_cloud import FakeOrchestration, cloud, resource, server

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


def test_a_lacking_role_is_named():
    observed = "Heat: OS::Nova::Flavor VDU1_flavor CREATE_FAILED: Forbidden: Policy doesn't allow it"
    told = causes.told(OnboardError("VNF a failed"), (observed,))
    assert told.fix.startswith("these credentials need the role `admin`")
