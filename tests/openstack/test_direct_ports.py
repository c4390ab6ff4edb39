"""A VNF on virtual functions through Tacker: what a rack's `sriov` asks for, on a cloud whose computes have none.

Its ports are Neutron's with `binding:vnic_type: direct`; that Nova then finds no function is this cloud's.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from nfvbed.cloud.tacker.api import VnfIdentity
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.sol import SolApi
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import OnboardError
from nfvbed.host.qemu import images as image_files
from nfvbed.records import VnfKind
from nfvbed.sites.openstack import images
from nfvbed.sites.openstack.images import GlanceImage
from nfvbed.sites.openstack.requests import VnfPlace, request
from nfvbed.spec.vnf import VnfChoice
from tests.openstack.cloud_driver import ROOT, wait
from tests.openstack.onboarding import failure_of, owner

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1200), pytest.mark.usefixtures("nothing_left")]
FAILED_S = 400


@pytest.mark.parametrize(("form", "kind"), [("legacy", LegacyApi), ("sol", SolApi)])
def test_neutron_gets_ports_of_virtual_functions(connection, journal, form, kind):
    project = open_project(ROOT)
    vnf, flavor = project.load_vnf("vloop"), project.load_flavor("default")
    choice = VnfChoice(label="", vnf=vnf, kind=VnfKind.VM, forwarding="mac", flavor=flavor)
    file = image_files.find(vnf.image, ROOT, "vnfd/vloop/vnf.yml")
    name, made = images.provide(connection, "vloop", file)
    place = VnfPlace(("data0", "data1"), direct=True)
    asked = request(VnfIdentity(owner(), "vnf1"), choice, place, GlanceImage(name, file), form)
    seen: dict[str, str] = {}

    def look() -> bool:
        for port in connection.network.ports():
            if port.binding_vnic_type == "direct":
                seen[str(port.network_id)] = str(port.is_port_security_enabled)
        return job.done()

    with ThreadPoolExecutor(max_workers=1) as executor:
        job = executor.submit(failure_of, kind(connection, journal), asked)
        assert wait(look, FAILED_S)
        failure, _ = job.result()
    if made:
        connection.image.delete_image(connection.image.find_image(name).id)
    assert isinstance(failure, OnboardError), failure
    networks = {str(connection.network.find_network(one).id) for one in place.networks}
    assert set(seen) == networks, "a port on each end, as it is asked for on a rack"
    assert set(seen.values()) == {"False"}
