"""A deployed rack as a site: what of its file the code for existing clouds gets, and when there is no cloud."""

import io
import zipfile

import pytest

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.cloud.tacker.api import VnfIdentity
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.host.qemu.images import Image
from nfvbed.records import PortKind, VnfKind
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured import contents
from nfvbed.sites.kolla.measured.cloud import DeployedRack, RackCloud, RackCompute
from nfvbed.sites.kolla.measured.described import described
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.openstack.images import GlanceImage
from nfvbed.sites.openstack.requests import VnfPlace, request
from nfvbed.sites.openstack.tackervnfs import has_functions
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.layout import layout
from nfvbed.spec.remote import TrexSpec
from nfvbed.spec.vnf import VnfChoice
from tests.unit.sites.kolla import orders

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
        ({"engine": "trex"}, ConfigurationError, "generator.trex"),
    ],
)
def test_a_generator_that_cannot_be_started(changes, error, where):
    with pytest.raises(error) as raised:
        described(rack_site(**changes), NEWEST)
    assert where in raised.value.where


def test_a_generator_of_devices_that_are_found_by_mac_needs_no_path_of_its_program():
    """As test racks have it: DPDK has no such NIC, and nfvgen of this machine is copied there."""

    def by_mac(data):
        data["hosts"]["generator"]["nics"][1:] = [
            {"role": "dpdk", "mac": f"52:54:00:3{place}:00:14", "network": "data", "driver": "af_packet"}
            for place in (0, 1)
        ]

    generator = described(orders.site(orders.changed(by_mac)), NEWEST).generator
    assert [port.mac for port in generator.ports] == ["52:54:00:30:00:14", "52:54:00:31:00:14"]
    assert (generator.engine, generator.nfvgen, generator.is_copied) == ("xdp", None, True)

    def one_of_each(data):
        by_mac(data)
        data["hosts"]["generator"]["nics"][1] = {"role": "dpdk", "pci": "0000:3b:00.0", "network": "data"}

    with pytest.raises(ConfigurationError, match="both by mac"):
        orders.site(orders.changed(one_of_each))

    def for_trex(data):
        by_mac(data)
        data["generator"]["engine"] = "trex"

    with pytest.raises(ConfigurationError, match="TRex has NICs of DPDK"):
        orders.site(orders.changed(for_trex))


def test_the_generators_machine_is_described_as_a_host_with_trex():
    trex = TrexSpec(folder="/opt/trex/v3.06", workers=4)
    generator = described(rack_site(engine="trex", trex=trex), NEWEST).generator
    assert generator.trex == trex and generator.nfvgen is None and generator.engine == "dpdk"


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
    assert isinstance(compute, RackCompute)
    assert compute.versions() == {"deployed, not read": "ovs-dpdk by kolla-ansible 22.2.0, images: Kolla's"}
    with pytest.raises(UnsupportedError, match="does not have variant ovs-kernel") as error:
        cloud.compute(PROJECT.load_variant("ovs-kernel"))
    assert "--redeploy" in error.value.fix


@pytest.mark.parametrize(("name", "kind"), [("sriov", PortKind.VF), ("macvtap", PortKind.MACVTAP)])
def test_a_rack_with_devices_of_a_nic(places, name, kind):
    rack, variant = rack_with(places, name), PROJECT.load_variant(name)
    cloud = RackCloud(described(rack.site, NEWEST), PROJECT.root, rack)
    compute = cloud.compute(variant)
    assert compute.vnf_port_kind is kind
    compute.check(variant, layout("pvp"))
    with pytest.raises(UnsupportedError, match="topology pvvp has no path there"):
        compute.check(variant, layout("pvvp"))
    assert cloud.networks_for(variant).outside[0] == ("nfvbed-vf-left" if name == "sriov" else "nfvbed-left")


def test_what_is_asked_for_on_virtual_functions(tmp_path):
    image = Image(tmp_path / "image.qcow2", "qcow2", "", None)
    image.path.write_bytes(b"no image")
    vnf, flavor = PROJECT.load_vnf("vloop"), PROJECT.load_flavor("default")
    choice = VnfChoice(label="", vnf=vnf, kind=VnfKind.VM, forwarding="mac", flavor=flavor)
    for direct, legacy, sol in ((True, "sriov", "direct"), (False, "vnic", "normal")):
        place = VnfPlace(("left", "right"), direct=direct)
        asked = request(VnfIdentity("owner", "vnf1"), choice, place, GlanceImage("image", image), "legacy").descriptor
        nodes = asked["topology_template"]["node_templates"]
        assert {nodes[name]["properties"]["type"] for name in ("in", "out")} == {legacy}
        package = request(VnfIdentity("owner", "vnf1"), choice, place, GlanceImage("image", image), "sol").descriptor
        with zipfile.ZipFile(io.BytesIO(package)) as archive:
            hot = "".join(archive.read(name).decode() for name in archive.namelist() if "BaseHOT" in name)
        assert hot.count(f"binding:vnic_type: {sol}") == 2


def test_what_cannot_be_behind_a_nics_switch(places):
    rack, variant = rack_with(places, "sriov"), PROJECT.load_variant("sriov")
    compute = RackCloud(described(rack.site, NEWEST), PROJECT.root, rack).compute(variant)
    vnf, flavor = PROJECT.load_vnf("vloop"), PROJECT.load_flavor("default")
    for forwarding in ("io", "macswap"):
        choice = VnfChoice(label="", vnf=vnf, kind=VnfKind.VM, forwarding=forwarding, flavor=flavor)
        with pytest.raises(UnsupportedError, match="cannot be behind a NIC's switch"):
            has_functions(compute, variant, choice)
    other = RackCloud(described(rack.site, NEWEST), PROJECT.root, rack_with(places, "ovs-dpdk"))
    plane = PROJECT.load_variant("ovs-dpdk")
    assert not has_functions(other.compute(plane), plane, choice)


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
    everywhere = pinning_of(PROJECT, rack_site(), "ovs-dpdk")
    contents.provide(cloud, rack_site(), everywhere, flavors)
    networks = {one["name"]: one for one in cloud.made if "is_port_security_enabled" in one}
    assert list(networks) == ["nfvbed-left", "nfvbed-right", "nfvbed-link1", "nfvbed-link2"]
    left = networks["nfvbed-left"]
    assert (left["provider_physical_network"], left["provider_segmentation_id"]) == ("data", 200)
    assert networks["nfvbed-right"]["provider_segmentation_id"] == 201
    assert not any(one["is_port_security_enabled"] for one in networks.values())
    assert {one["specs of"] for one in cloud.made if "specs of" in one} == {"nfvbed.hugepages"}
    link = networks["nfvbed-link1"]
    assert (link["provider_network_type"], link["provider_physical_network"]) == ("vlan", "data")
    assert "provider_segmentation_id" not in link, "Neutron takes a free one"
    before = len(cloud.made)
    contents.provide(cloud, rack_site(), everywhere, flavors)
    assert len(cloud.made) == before


@pytest.mark.parametrize("kind", ["vxlan", "geneve"])
def test_a_tunnel_is_made_once_and_is_no_vlan(kind):
    cloud = Recorded()
    for _ in range(2):
        contents.provide_tunnels(cloud, ["nfvbed-tunnel1"], kind)
    (made,) = [one for one in cloud.made if "is_port_security_enabled" in one]
    assert (made["name"], made["provider_network_type"], made["is_port_security_enabled"]) == (
        "nfvbed-tunnel1",
        kind,
        False,
    )
    assert not {"provider_physical_network", "provider_segmentation_id"} & made.keys()


def test_tunnels_are_there_where_all_data_planes_have_them(places):
    for name, there in (("ovs-dpdk", True), ("ovs-kernel", True), ("ovs-afxdp", False), ("macvtap", False)):
        rack, variant = rack_with(places, name), PROJECT.load_variant(name)
        cloud = RackCloud(described(rack.site, NEWEST), PROJECT.root, rack)
        assert ("tunnel1" in cloud.networks_for(variant).named) == there, name
        assert rack.order.network_types == ("vlan,vxlan" if there else "vlan"), name
        assert cloud.networks_for(variant).named["data0"] == "nfvbed-left"
        assert cloud.computes_of(variant) == ("compute1", "compute2")


def test_virtual_functions_have_networks_of_their_own():
    cloud = Recorded()
    contents.provide(cloud, rack_site(), pinning_of(PROJECT, rack_site(), "sriov"), [])
    on = {one["name"]: one for one in cloud.made if "is_port_security_enabled" in one}
    assert list(on)[4:] == ["nfvbed-vf-left", "nfvbed-vf-right", "nfvbed-vf-link1", "nfvbed-vf-link2"]
    assert {one["provider_physical_network"] for name, one in on.items() if "-vf-" in name} == {"vf"}
    assert [one["provider_segmentation_id"] for one in on.values() if "provider_segmentation_id" in one] == [
        *(200, 201),
        *(200, 201),
    ], "the switch carries the generator's VLANs to both NICs"


def test_virtual_functions_on_different_physical_networks():
    site = rack_site()
    nics = [
        nic.model_copy(update={"network": "data"}) if nic.role == "sriov" else nic
        for nic in site.hosts["compute2"].nics
    ]
    hosts = {**site.hosts, "compute2": site.hosts["compute2"].model_copy(update={"nics": tuple(nics)})}
    changed = site.model_copy(update={"hosts": hosts})
    with pytest.raises(ConfigurationError, match="different physical networks") as error:
        contents.provide(Recorded(), changed, pinning_of(PROJECT, changed, "sriov"), [])
    assert error.value.observed == "compute1: vf, compute2: data"
