"""A deployed rack as a site: what of its file the code for existing clouds gets, and when there is no cloud."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured import contents
from nfvbed.sites.kolla.measured.cloud import DeployedRack, RackCloud, RackCompute
from nfvbed.sites.kolla.measured.described import described
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.site import open_site
from nfvbed.sites.openstack.devcloud.places import write_private
from nfvbed.spec.kollarelease import NEWEST

PROJECT = open_project()
DEPLOYED = Journal(variant="ovs-dpdk", release=NEWEST, digest="d").noted("deploy", "done")


def rack_site(**generator):
    site = PROJECT.load_site("rack")
    keys = {"nfvgen": "/opt/nfvgen", "core": 3, **generator}
    return site.model_copy(update={"generator": site.generator.model_copy(update=keys)})


def rack_with(places, variant, site=None):
    site = site or rack_site()
    return DeployedRack(site, places, pinning_of(PROJECT, site, variant), (), PROJECT.load_kolla_release(NEWEST))


@pytest.fixture(name="root")
def _root(tmp_path):
    for name in ("deploy", "flavors", "vnfd", "kolla"):
        (tmp_path / name).symlink_to(PROJECT.root / name)
    return tmp_path


@pytest.fixture(name="places")
def _places(root):
    found = RackPlaces.of(root, "rack")
    found.make()
    return found


def test_the_generators_machine_is_described_as_a_host_with_nfvgen():
    cloud = described(rack_site(), NEWEST)
    assert cloud.onboarding == "sol" and cloud.os_cloud == "rack"
    generator = cloud.generator
    assert (generator.address, generator.user, generator.core) == ("10.10.0.20", "root", 3)
    assert [port.pci for port in generator.ports] == ["0000:3b:00.0", "0000:3b:00.1"]
    assert generator.engine == "dpdk"
    assert described(rack_site(), "ocata").onboarding == "legacy"


@pytest.mark.parametrize(
    ("changes", "error", "where"),
    [
        ({"nfvgen": None}, ConfigurationError, "generator.nfvgen"),
        ({"engine": "trex"}, UnsupportedError, "generator.engine"),
    ],
)
def test_a_generator_that_cannot_be_started(changes, error, where):
    with pytest.raises(error) as raised:
        described(rack_site(**changes), NEWEST)
    assert where in raised.value.where


def test_a_rack_without_a_cloud(root, places):
    with pytest.raises(UnsupportedError, match="has no cloud") as error:
        open_site(rack_site(), root)
    assert error.value.observed == "nothing is deployed on it"
    journal.write(places, DEPLOYED.noted("tune", "failed"))
    write_private(places.clouds, "clouds: {}\n")
    with pytest.raises(UnsupportedError) as error:
        open_site(rack_site(), root)
    assert error.value.observed == "ovs-dpdk is not complete on it"


def test_a_rack_with_a_cloud(root, places):
    journal.write(places, DEPLOYED)
    write_private(places.clouds, "clouds: {}\n")
    site = open_site(rack_site(), root)
    assert site.name == "rack" and site.find_deployed() is None


def test_a_rack_has_one_variant(places):
    rack = rack_with(places, "ovs-dpdk")
    cloud = RackCloud(described(rack.site, NEWEST), PROJECT.root, rack)
    compute = cloud.compute(PROJECT.load_variant("ovs-dpdk"))
    assert isinstance(compute, RackCompute) and compute.versions() == {"deployed, not read": "ovs-dpdk"}
    with pytest.raises(UnsupportedError, match="does not have variant ovs-kernel") as error:
        cloud.compute(PROJECT.load_variant("ovs-kernel"))
    assert "--redeploy" in error.value.fix


@pytest.mark.parametrize("variant", ["sriov", "macvtap"])
def test_ports_that_descriptors_do_not_ask_for(places, variant):
    rack = rack_with(places, variant)
    with pytest.raises(UnsupportedError, match="not measured on a rack yet"):
        RackCloud(described(rack.site, NEWEST), PROJECT.root, rack).compute(PROJECT.load_variant(variant))


class Recorded:
    """Stands for openstacksdk's connection: a double that remembers what was made."""

    def __init__(self):
        self.made = []
        self.network = self.compute = self

    def find_network(self, name):
        return next((one for one in self.made if one.get("name") == name and "description" in one), None)

    def flavors(self, **_keys):
        return [Named(one["name"]) for one in self.made if "ram" in one]

    def create_network(self, **keys):
        self.made.append(keys)
        return Named(keys["name"])

    create_flavor = create_network

    def create_subnet(self, **keys):
        self.made.append(keys)

    def create_flavor_extra_specs(self, flavor, specs):
        self.made.append({"specs of": flavor.name, **specs})


class Named:
    """Stands for a resource."""

    def __init__(self, name):
        self.name = self.id = name


def test_networks_and_flavors_are_made_once():
    cloud, flavors = Recorded(), [PROJECT.load_flavor("hugepages")]
    contents.provide(cloud, rack_site(), flavors)
    networks = {one["name"]: one for one in cloud.made if "is_port_security_enabled" in one}
    assert list(networks) == ["nfvbed-left", "nfvbed-right", "nfvbed-link1", "nfvbed-link2"]
    left = networks["nfvbed-left"]
    assert (left["provider_physical_network"], left["provider_segmentation_id"]) == ("data", 200)
    assert networks["nfvbed-right"]["provider_segmentation_id"] == 201
    assert not any(one["is_port_security_enabled"] for one in networks.values())
    assert {one["specs of"] for one in cloud.made if "specs of" in one} == {"nfvbed.hugepages"}
    before = len(cloud.made)
    contents.provide(cloud, rack_site(), flavors)
    assert len(cloud.made) == before
