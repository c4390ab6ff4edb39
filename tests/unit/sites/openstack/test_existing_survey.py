"""What is looked at in a cloud that exists already, and how what is lacking is said: with the role that it takes."""

from types import SimpleNamespace

import pytest
from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError
from nfvbed.records import Accelerator, Readiness
from nfvbed.records.findings import State
from nfvbed.sites.openstack.existing import devices
from nfvbed.sites.openstack.existing.cloud import ExistingCloud
from nfvbed.sites.openstack.existing.path import ExistingPath
from nfvbed.sites.openstack.existing.survey import Survey
from nfvbed.sites.openstack.site import open_existing
from nfvbed.spec.choices import resolve
from nfvbed.spec.site import CloudSiteSpec
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
VARIANT = PROJECT.load_variant("existing")
VM = resolve(VnfUse(kind="vm", forwarding="io", flavor="hugepages"), VARIANT, PROJECT)
SERVICES = ("compute", "network", "image", "orchestration", "nfv-orchestration")


class FakeCloud:
    """A double of openstacksdk's connection: what the project sees."""

    def __init__(self, roles=("member",), services=SERVICES):
        self.roles, self.services, self.failure = roles, services, None
        self.config = SimpleNamespace(
            config={"auth": {"auth_url": "http://keystone/v3"}}, get_region_name=lambda: "RegionOne"
        )
        self.session = SimpleNamespace(auth=SimpleNamespace(get_access=self._access))
        self.nets = [net("n0", "left"), net("n1", "right"), net("n2", "mid")]
        self.network = SimpleNamespace(
            find_network=lambda name, ignore_missing: found(self.nets, name),
            networks=lambda: iter(self.nets),
            find_port=lambda name, ignore_missing: found(self.listed, name),
            ports=lambda device_id: iter([one for one in self.listed if one.device_id == device_id]),
        )
        self.listed = [*ports("a", "n0", "n1"), *ports("b", "n2", "n1")]
        self.instances = [SimpleNamespace(id=x, name=f"vm-{x}", status="ACTIVE", compute_host=None) for x in "ab"]
        self.flavors = {"nfvbed.hugepages"}
        self.limits = {"instances": 10, "instances_used": 9, "total_cores": 20, "total_cores_used": 18}
        self.limits |= {"total_ram": -1, "total_ram_used": 0}
        self.compute = SimpleNamespace(
            find_server=lambda name, ignore_missing: found(self.instances, name),
            servers=lambda: iter(self.instances),
            find_flavor=lambda name, ignore_missing: name if name in self.flavors else None,
            get_limits=lambda: SimpleNamespace(absolute=SimpleNamespace(**self.limits)),
        )

    def _access(self, session):
        if self.failure:
            raise self.failure
        return SimpleNamespace(project_id="p", project_name="theirs", role_names=self.roles)

    def endpoint_for(self, name):
        return "http://x" if name in self.services else None


def net(identifier, name, secured=False, project="operator"):
    return SimpleNamespace(id=identifier, name=name, is_port_security_enabled=secured, project_id=project)


def ports(server, *networks, secured=False, pairs=()):
    return [
        SimpleNamespace(
            id=f"{server}-{network}",
            name="",
            device_id=server,
            network_id=network,
            mac_address=f"fa:16:3e:00:00:{place:02x}",
            is_port_security_enabled=secured,
            allowed_address_pairs=list(pairs),
            binding_vif_type=None,
        )
        for place, network in enumerate(networks)
    ]


def found(things, name):
    matching = [one for one in things if name in (one.id, one.name)]
    if len(matching) > 1:
        raise sdk.DuplicateResource("several")
    return matching[0] if matching else None


def spec(**keys):
    values = {"name": "c", "kind": "cloud", "os_cloud": "mine", "networks": ("left", "right")}
    values |= {
        "ports": ({"device": "e1"}, {"device": "e2"}),
        "onboarding": "none",
        "existing": {"instances": ("vm-a",)},
    }
    return CloudSiteSpec.model_validate({**values, **keys})


def path(cloud, **keys):
    wanted = spec(**keys)
    return ExistingPath(wanted, Survey(wanted, cloud))


@pytest.mark.parametrize(
    ("failure", "what", "fix"),
    [
        (keystone.Unauthorized("no"), "does not let these credentials in", "password"),
        (keystone.DiscoveryFailure("no"), "does not answer", "auth_url"),
    ],
)
def test_keystone_that_refuses_or_does_not_answer(failure, what, fix):
    cloud = FakeCloud()
    cloud.failure = failure
    with pytest.raises(PrerequisiteError, match=what) as refused:
        Survey(spec(), cloud).require_services()
    assert fix in refused.value.fix and "http://keystone/v3" in refused.value.where


def test_a_service_that_the_catalogue_has_not():
    cloud = FakeCloud(services=("compute", "network"))
    assert Survey(spec(), cloud).require_services() == ("compute", "network")
    with pytest.raises(PrerequisiteError, match="image, orchestration, nfv-orchestration") as refused:
        Survey(spec(onboarding="sol", existing=None), cloud).require_services()
    assert "onboarding: none" in refused.value.fix


def test_a_network_that_is_not_visible_is_named_with_who_can_share_it():
    with pytest.raises(PrerequisiteError, match="network rihgt is not there, or not visible") as refused:
        Survey(spec(networks=("left", "rihgt")), FakeCloud()).networks()
    assert refused.value.where == "networks[1] of site c"
    assert "did you mean 'right'?" in refused.value.fix and "role `admin`" in refused.value.fix
    cloud = FakeCloud()
    cloud.nets.append(net("n9", "left"))
    with pytest.raises(PrerequisiteError, match="several networks are called left"):
        Survey(spec(), cloud).networks()


def test_a_refusal_of_neutron_names_the_role():
    cloud = FakeCloud()

    def refuse(name, ignore_missing):
        raise sdk.ForbiddenException("policy", http_status=403)

    cloud.network.find_network = refuse
    with pytest.raises(UnsupportedError, match="refused to these credentials") as refused:
        Survey(spec(), cloud).networks()
    assert "`reader` or `member`" in refused.value.fix


def test_ports_without_security_are_the_owners_and_the_administrators():
    cloud = FakeCloud()
    assert Survey(spec(), cloud).require_ports_without_security() is True, "the networks have none: nothing is to ask"
    cloud.nets[1] = net("n1", "right", secured=True)
    with pytest.raises(UnsupportedError, match="ports on right cannot be without port security") as refused:
        Survey(spec(), cloud).require_ports_without_security()
    assert "role `admin`" in refused.value.fix and "member" in refused.value.observed
    assert Survey(spec(), FakeCloud(roles=("admin",))).require_ports_without_security() is True
    cloud.roles = ("admin", "member")
    assert Survey(spec(), cloud).require_ports_without_security() is False, "each port turns it off"
    cloud.roles, cloud.nets[1] = ("member",), net("n1", "right", secured=True, project="p")
    assert Survey(spec(), cloud).require_ports_without_security() is False


def test_a_path_is_put_in_order_by_its_networks():
    one = path(FakeCloud()).instances()
    assert [(port.id, port.network) for port in one[0].ports] == [("a-n0", "left"), ("a-n1", "right")]
    cloud = FakeCloud()
    cloud.listed = [*ports("a", "n0", "n2"), *ports("b", "n1", "n2")]
    two = path(cloud, existing={"topology": "pvvp", "instances": ("vm-a", "vm-b")})
    assert [[port.id for port in each.ports] for each in two.instances()] == [["a-n0", "a-n2"], ["b-n2", "b-n1"]]
    assert two.end_macs() == ("fa:16:3e:00:00:00", "fa:16:3e:00:00:00")
    assert "pvvp through vm-a, vm-b" in two.shown()


def test_addresses_of_ends_whose_instances_are_not_named():
    assert path(FakeCloud(), existing={"ports": ("a-n0", "b-n1")}).end_macs() == (
        "fa:16:3e:00:00:00",
        "fa:16:3e:00:00:01",
    )
    assert path(FakeCloud(), existing={}).end_macs() is None
    with pytest.raises(PrerequisiteError, match="port x is not there"):
        path(FakeCloud(), existing={"ports": ("x", "b-n1")}).end_macs()


def test_instances_that_are_not_on_the_path():
    with pytest.raises(PrerequisiteError, match="instance fw is not there, or not one of project theirs") as refused:
        path(FakeCloud(), existing={"instances": ("fw",)}).instances()
    assert "vm-a, vm-b" in refused.value.observed
    with pytest.raises(PrerequisiteError, match="vm-b has 0 ports on network left"):
        path(FakeCloud(), existing={"instances": ("vm-b",)}).instances()
    cloud = FakeCloud()
    cloud.instances[0].status = "SHUTOFF"
    with pytest.raises(PrerequisiteError, match="vm-a does not run") as refused:
        path(cloud).instances()
    assert "SHUTOFF" in refused.value.observed
    with pytest.raises(PrerequisiteError, match="not clear which network joins vm-a and vm-b"):
        path(FakeCloud(), existing={"topology": "pvvp", "instances": ("vm-a", "vm-b")}).instances()


def test_port_security_of_an_instance_is_refused_unless_it_allows_other_addresses():
    cloud = FakeCloud()
    cloud.listed = ports("a", "n0", "n1", secured=True)
    with pytest.raises(UnsupportedError, match="has port security") as refused:
        path(cloud).require()
    assert "--disable-port-security a-n0" in refused.value.fix and "role `admin`" in refused.value.fix
    cloud.listed = ports("a", "n0", "n1", secured=True, pairs=[{"ip_address": "0.0.0.0/0"}])
    path(cloud).require()


def existing(cloud, tmp_path, **keys):
    target = ExistingCloud(spec(**keys), tmp_path)
    target.__dict__["connection"] = cloud
    return target


def test_room_for_vnfs_is_looked_for_before_anything_is_made(tmp_path):
    cloud = FakeCloud()
    target = existing(cloud, tmp_path, onboarding="sol", existing=None)
    target.require_room(VM, 1)
    with pytest.raises(OnboardError, match="quota of project theirs is too small") as refused:
        target.require_room(VM, 2)
    assert "instances: 9 of 10 are used, 2 more are needed" in refused.value.observed
    assert "role admin" in refused.value.fix
    cloud.flavors.clear()
    with pytest.raises(OnboardError, match="no flavor nfvbed.hugepages") as refused:
        target.require_room(VM, 1)
    assert "openstack flavor create nfvbed.hugepages --vcpus" in refused.value.fix
    assert "role admin" in refused.value.fix


def test_the_doctor_has_a_line_for_each_thing_that_is_asked(tmp_path):
    topics = {one.topic: one for one in existing(FakeCloud(), tmp_path).topics()}
    assert topics["project"].summary == "theirs, roles member"
    assert topics["path"].summary == "pvp through vm-a"
    assert topics["generator's devices"].state is State.ABSENT
    assert "e1" in topics["generator's devices"].summary
    assert not existing(FakeCloud(), tmp_path).stop(), "it is not ours"


def test_other_data_planes_are_refused_by_name_and_what_is_not_known_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(devices, "require", lambda ports: None)
    site = open_existing(spec(), tmp_path)
    refused = site.probe(PROJECT.load_variant("linux-bridge"))
    assert refused.readiness is Readiness.UNSUPPORTED and "variant existing" in refused.fix
    found = site.probe(VARIANT)
    assert found.readiness is Readiness.DEGRADED and "is not known" in found.reason
    stated = open_existing(spec(accelerator="kvm"), tmp_path).probe(VARIANT)
    assert stated.readiness is Readiness.READY
    assert ExistingCloud(spec(), tmp_path).accelerator is Accelerator.NONE


def test_a_host_s_own_device_and_one_that_is_not_there():
    (lo, none) = spec(ports=({"device": "lo"}, {"device": "none0"})).ports
    with pytest.raises(UnsupportedError, match="in use by this host") as refused:
        devices.require((lo, none))
    assert refused.value.where == "ports[0]"
    with pytest.raises(PrerequisiteError, match="is not on this machine"):
        devices.require((none, lo))
    nowhere = spec(ports=({"device": "a", "netns": "/no/such"}, {"device": "b", "netns": "/no/such"})).ports
    with pytest.raises(PrerequisiteError, match="cannot be entered"):
        devices.require(nowhere)
