"""The mobile core as two guests through both of Tacker's APIs: what its file says is what Nova and Neutron then have.

Its functions do not run here: the image is CirrOS.
"""

import base64
import re
import secrets

import pytest

from nfvbed.cloud.devcloud.contents import CIRROS_FILE
from nfvbed.vnfs.descriptors import csar, sol
from nfvbed.vnfs.descriptors.cloudimage import CloudImage, checksums
from nfvbed.vnfs.descriptors.seedword import NO_SEED
from tests.openstack.test_tacker_samples import offboard, onboarded, pairs
from tests.unit.vnfs.descriptors import several

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1500), pytest.mark.usefixtures("nothing_onboarded")]
IMAGE, FLAVOR, VARIANT = "cirros", "nfvbed.small", "ovs-dpdk"
SMALL = {"image_core": IMAGE, "image_edge": IMAGE, "flavor_core": FLAVOR, "flavor_edge": FLAVOR}
GROUP = "PG_apart"
SCRIPT = {"lcm-operation-user-data": "./UserData/lcm_user_data.py", "lcm-operation-user-data-class": "UserData"}
PORTS = {"core_s1-u": "data0", "edge_s1-u": "data0", "core_sgi": "data1", "edge_sgi": "data1"}
"""Networks of the cloud, by connection point."""
SEED = re.compile(r"\bseed=\w+")


def require_as_described(connection, vnf):
    """Check servers, ports in their order, addresses, port security, user data and the server group.

    A template has the deployment's own secret in its user data; a package that is given says that there is none.
    """
    made = several.request(several.TWO, soft=True).flavour(several.TWO)
    (group,) = [one for one in connection.compute.server_groups() if one.name == GROUP]
    assert [*(group.policies or ()), group.policy][-1] == "soft-anti-affinity"
    assert {one["id"] for one in vnf["instances"]} == set(group.member_ids)
    servers = {server.id: server for server in map(connection.compute.get_server, group.member_ids)}
    functions = {}
    for instance in vnf["instances"]:
        assert instance["printed"]
        server = servers[instance["id"]]
        said = base64.b64decode(server.user_data).decode()
        assert (SEED.findall(said) == [NO_SEED]) is (vnf["api"] == "sol")
        machine = next(one for one in made.machines if one.user_data == SEED.sub(NO_SEED, said))
        functions[machine.name] = server.status
        networks = [network for network, _ in instance["ports"]]
        assert sorted(networks) == sorted(port.network for port in machine.ports)
        found = {port.mac_address: port for port in connection.network.ports(device_id=server.id)}
        for network, mac in instance["ports"]:
            port, described = found[mac], next(one for one in machine.ports if one.network == network)
            addresses = [one["ip_address"] for one in port.fixed_ips]
            assert not described.address or addresses == [described.address]
            assert port.is_port_security_enabled is not described.data
    assert functions == {"core": "ACTIVE", "edge": "ACTIVE"}


def test_template_makes_two_guests_with_their_links(onboarding_cloud, connection):
    before = onboarding_cloud.holdings()
    vnf = onboarded("vepc", VARIANT, "--deployment-flavour", several.TWO, *pairs("--param", SMALL))
    try:
        assert vnf["api"] == "legacy"
        require_as_described(connection, vnf)
        again = onboarded("vepc", VARIANT, "--deployment-flavour", several.TWO, *pairs("--param", SMALL))
        assert [name for name, _ in again["steps"]] == ["found"]
    finally:
        offboard("vepc")
    assert onboarding_cloud.holdings() == before
    assert GROUP not in [one.name for one in connection.compute.server_groups()]


def test_package_makes_two_guests_with_their_links(onboarding_cloud, connection, tmp_path):
    before, path = onboarding_cloud.holdings(), tmp_path / "vepc.csar"
    image = CloudImage(IMAGE, None, checksums(onboarding_cloud.places.root / CIRROS_FILE))
    # Tacker takes an id once: this package is another one each time.
    made = several.request(several.TWO, soft=True, image=image, changes={"purpose": secrets.token_hex(4)})
    path.write_bytes(csar.write(sol.files(made)))
    vnf = onboarded(path, VARIANT, *pairs("--network", PORTS), *pairs("--param", SCRIPT))
    try:
        assert vnf["api"] == "sol"
        require_as_described(connection, vnf)
    finally:
        offboard("vepc")
    assert onboarding_cloud.holdings() == before
    assert GROUP not in [one.name for one in connection.compute.server_groups()]
