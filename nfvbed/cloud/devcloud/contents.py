"""The first contents of a cloud: networks, flavors, an image, and Tacker's access to the cloud."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nfvbed.cloud.devcloud.rest import CloudApi
from nfvbed.cloud.devcloud.services.settings import LOOPBACK, PORTS
from nfvbed.cloud.novaflavor import PREFIX, extra_specs
from nfvbed.spec.flavor import Flavor

CIRROS = "cirros"
CIRROS_FILE = Path(
    "opt/tacker/lib/python3.11/site-packages/tacker/tests/etc/samples/etsi/nfv/common/Files/images",
    "cirros-0.5.2-x86_64-disk.img",
)
"""In the private root: it is inside Tacker's wheel."""
VIM = "devcloud"
ZONE = "nova"
"""Availability zone of computes that were not put into another one (Nova: `default_availability_zone`)."""
SMALL = Flavor(name="small", title="Small", summary="For CirrOS.", vcpus=1, memory_mib=256, disk_gib=1, hugepages=True)
TENANT = "tenant"
"""Physical network of VLANs: those of tenants, and those between two computes."""
_MARK = "made by nfvbed devcloud"


@dataclass(frozen=True)
class Network:
    """A network: a flat one is on the physical network of its name, a local one within each host alone.

    A VLAN is on the physical network `tenant`.
    """

    name: str
    cidr: str
    gateway: str | None = None
    dhcp: bool = False
    kind: str = "flat"


NETWORKS = (
    Network("mgmt", "10.99.0.0/24", "10.99.0.1", dhcp=True),
    # Traffic ports; Nova wants a subnet on every network, and no guest there asks for an address.
    Network("data0", "10.98.0.0/24"),
    Network("data1", "10.98.1.0/24"),
    # Between VNFs of a chain, which are on one host: no physical network is needed.
    Network("link1", "10.97.1.0/24", kind="local"),
    Network("link2", "10.97.2.0/24", kind="local"),
    # The same between two computes of a data plane.
    Network("vlan1", "10.97.3.0/24", kind="vlan"),
    Network("vlan2", "10.97.4.0/24", kind="vlan"),
)


def fill(api: CloudApi, root: Path, wanted: Sequence[Flavor], password: str) -> str:
    """Make what is not there yet; return what there is now.

    Args:
        password: the administrator's password, which Tacker is given.
    """
    for network in NETWORKS:
        _network(api, network)
    known = {one["name"] for one in api.get("nova", "/v2.1/flavors?is_public=None")["flavors"]}
    for flavor in (SMALL, *wanted):
        if PREFIX + flavor.name not in known:
            _flavor(api, flavor)
    if not api.get("glance", f"/v2/images?name={CIRROS}")["images"]:
        _image(api, root / CIRROS_FILE)
    if not api.get("tacker", "/v1.0/vims")["vims"]:
        _vim(api, password)
    return f"{len(NETWORKS)} networks, {len(wanted) + 1} flavors, CirrOS, VIM {VIM}"


def _physical(network: Network) -> dict[str, str]:
    if network.kind == "local":
        return {}
    return {"provider:physical_network": network.name if network.kind == "flat" else TENANT}


def _network(api: CloudApi, network: Network) -> None:
    if api.get("neutron", f"/v2.0/networks?name={network.name}")["networks"]:
        return
    body: dict[str, Any] = {
        "name": network.name,
        "description": _MARK,
        "shared": True,
        # With port security Neutron drops every frame that a VNF forwards, whatever the firewall driver.
        "port_security_enabled": False,
        "provider:network_type": network.kind,
        **_physical(network),
    }
    made = api.post("neutron", "/v2.0/networks", {"network": body})["network"]["id"]
    subnet = {
        "name": network.name,
        "network_id": made,
        "ip_version": 4,
        "cidr": network.cidr,
        "gateway_ip": network.gateway,
        "enable_dhcp": network.dhcp,
        "description": _MARK,
    }
    api.post("neutron", "/v2.0/subnets", {"subnet": subnet})


def _flavor(api: CloudApi, flavor: Flavor) -> None:
    made = api.post("nova", "/v2.1/flavors", {"flavor": flavor_request(flavor)})["flavor"]["id"]
    api.post("nova", f"/v2.1/flavors/{made}/os-extra_specs", {"extra_specs": extra_specs(flavor)})


def flavor_request(flavor: Flavor) -> dict[str, object]:
    """Return the request for a flavor; its extra specs are set after it."""
    return {
        "name": PREFIX + flavor.name,
        "vcpus": flavor.vcpus,
        "ram": flavor.memory_mib,
        "disk": flavor.disk_gib,
    }


def _image(api: CloudApi, path: Path) -> None:
    body = {"name": CIRROS, "disk_format": "qcow2", "container_format": "bare", "visibility": "public"}
    made = api.post("glance", "/v2/images", body)["id"]
    api.send_file("PUT", "glance", f"/v2/images/{made}/file", path.read_bytes(), "application/octet-stream")


def _vim(api: CloudApi, password: str) -> None:
    """Register this cloud. Without Mistral it stays PENDING; onboarding works nevertheless."""
    credentials = {"username": "admin", "password": password, "user_domain_name": "Default", "cert_verify": "False"}
    body = {
        "name": VIM,
        "description": _MARK,
        "type": "openstack",
        "auth_url": f"http://{LOOPBACK}:{PORTS['keystone']}/v3",
        "vim_project": {"name": "admin", "project_domain_name": "Default"},
        "auth_cred": credentials,
        "is_default": True,
    }
    api.post("tacker", "/v1.0/vims", {"vim": body})
