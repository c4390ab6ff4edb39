"""Drives a devcloud as its user does: the command line, the APIs, and packages built from the sample descriptors."""

import io
import json
import os
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from nfvbed.cloud.devcloud.access import NAME
from nfvbed.cloud.devcloud.contents import CIRROS_FILE
from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.rest import ApiError, CloudApi
from nfvbed.dataplanes.devcloud import open_cloud

ROOT = Path(__file__).resolve().parents[2]
CIRROS = Path(__file__).parent / "cirros"
IMAGES = ROOT / "images"
HUGEPAGES_MIB = 2048
"""As the site's file has it: enough for a chain of two."""
DESCRIPTOR_ID = "3f6b5a52-0f1e-4a0c-8f0b-1c1f2e9d6b01"
"""In the sample; Tacker takes an id once, so each package has its own."""
TYPES = "etsi_nfv_sol001_{}_types.yaml"


def nfvbed(*words: str, timeout_s: float = 1500.0) -> subprocess.CompletedProcess[str]:
    """Run one command of nfvbed."""
    return subprocess.run(argv(*words), cwd=ROOT, capture_output=True, text=True, timeout=timeout_s, check=False)


def verb(
    *words: str, timeout_s: float = 900.0, root: Path = ROOT, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a verb of nfvbed, of whatever site, on the data below a root, with more in its environment."""
    argv = [sys.executable, "-m", "nfvbed", "--root", str(root), *words]
    more = {**os.environ, **(environment or {})}
    return subprocess.run(argv, cwd=ROOT, env=more, capture_output=True, text=True, timeout=timeout_s, check=False)


def argv(*words: str) -> list[str]:
    """Return a command line of this checkout's nfvbed."""
    return [sys.executable, "-m", "nfvbed", "--root", str(ROOT), "devcloud", *words]


class Cloud:
    """The cloud of this checkout."""

    def __init__(self) -> None:
        self.places = CloudPlaces.of(ROOT)
        document = yaml.safe_load(self.places.clouds.read_text())
        self.auth = document["clouds"][NAME]["auth"]
        self.api = CloudApi(self.auth["password"])

    @property
    def channel(self):
        """The controller's first process."""
        return open_cloud(ROOT).find_node().channel

    def network(self, name: str) -> str:
        """Return a network's id."""
        return self.api.get("neutron", f"/v2.0/networks?name={name}")["networks"][0]["id"]

    def boot(self, name: str, image: str, flavor: str, networks: tuple[str, ...]) -> str:
        """Boot an instance; return its id when it is ACTIVE. One that does not become so is deleted."""
        images = self.api.get("glance", f"/v2/images?name={image}")["images"]
        flavors = self.api.get("nova", "/v2.1/flavors")["flavors"]
        body = {
            "name": name,
            "imageRef": images[0]["id"],
            "flavorRef": next(one["id"] for one in flavors if one["name"] == flavor),
            "networks": [{"uuid": self.network(one)} for one in networks],
        }
        server = self.api.post("nova", "/v2.1/servers", {"server": body})["server"]["id"]
        wait(lambda: self.server(server)["status"] in ("ACTIVE", "ERROR"), 180)
        found = self.server(server)
        if found["status"] != "ACTIVE":
            self.delete_server(server)
        assert found["status"] == "ACTIVE", found.get("fault")
        return server

    def server(self, identifier: str):
        """Return what Nova says of an instance."""
        return self.api.get("nova", f"/v2.1/servers/{identifier}")["server"]

    def address(self, identifier: str) -> str:
        """Return an instance's first address."""
        (first, *_) = [one["addr"] for ports in self.server(identifier)["addresses"].values() for one in ports]
        return first

    def console(self, identifier: str) -> str:
        """Return what an instance has printed."""
        body = {"os-getConsoleOutput": {"length": 200}}
        return self.api.post("nova", f"/v2.1/servers/{identifier}/action", body)["output"]

    def answers(self, address: str, timeout_s: float = 120.0) -> bool:
        """Whether an address answers a ping from the controller within a time."""
        ping = Command(("/usr/bin/ping", "-c", "1", "-W", "1", address))
        return wait(lambda: self.channel.run(ping).status == 0, timeout_s)

    def delete_server(self, identifier: str) -> None:
        """Delete an instance and wait until it is gone."""
        self.api.delete("nova", f"/v2.1/servers/{identifier}")
        wait(lambda: identifier not in self.servers(), 60)

    def servers(self) -> set[str]:
        """Return the ids of all instances."""
        return {one["id"] for one in self.api.get("nova", "/v2.1/servers?all_tenants=1")["servers"]}

    def holdings(self) -> dict[str, set[str]]:
        """Return what a life cycle may leave behind, by id."""
        listed = {
            "stacks": ("heat", f"/v1/{self.api.project_id}/stacks", "stacks"),
            "servers": ("nova", "/v2.1/servers?all_tenants=1", "servers"),
            "flavors": ("nova", "/v2.1/flavors?is_public=None", "flavors"),
            "ports": ("neutron", "/v2.0/ports", "ports"),
            "networks": ("neutron", "/v2.0/networks", "networks"),
            "images": ("glance", "/v2/images", "images"),
        }
        return {
            # Ports of the networks' own DHCP servers come and go with their agent.
            kind: {
                one["id"]
                for one in self.api.get(service, path)[key]
                if not str(one.get("device_owner", "")).startswith("network:")
            }
            for kind, (service, path, key) in listed.items()
        }

    def known_to_tacker(self) -> set[str]:
        """Return the ids of all that Tacker has, of whatever project."""
        legacy = [one["id"] for kind in ("vnfs", "vnfds") for one in self.api.get("tacker", f"/v1.0/{kind}")[kind]]
        instances = self.api.get("tacker", "/vnflcm/v1/vnf_instances")
        packages = self.api.get("tacker", "/vnfpkgm/v1/vnf_packages")
        listed = packages["vnf_packages"] if isinstance(packages, dict) else packages
        return {*legacy, *(one["id"] for one in (*instances, *listed))}

    def image(self, name: str, path: Path, kind: str = "qcow2", **properties: str) -> str:
        """Put an image into Glance; return its id.

        Args:
            name: its name.
            path: its file.
            kind: `qcow2`, or `aki` and `ari`: a kernel and its ramdisk.
            properties: as Nova reads them.
        """
        container = "bare" if kind == "qcow2" else kind
        body = {"name": name, "disk_format": kind, "container_format": container, "visibility": "public"}
        made = self.api.post("glance", "/v2/images", {**body, **properties})["id"]
        self.api.send_file("PUT", "glance", f"/v2/images/{made}/file", path.read_bytes(), "application/octet-stream")
        return made

    def vloop(self, name: str, forward: str) -> None:
        """Put vloop into Glance so that it forwards from its boot on: its agent cannot be reached in a cloud."""
        sidecar = json.loads((IMAGES / "vloop.json").read_text())
        kernel = self.image(f"{name}-kernel", IMAGES / "vloop.kernel", "aki")
        ramdisk = self.image(f"{name}-initrd", IMAGES / "vloop.initrd", "ari")
        words = f"{sidecar['cmdline']} vloop.forward={forward}"
        self.image(name, IMAGES / "vloop.qcow2", kernel_id=kernel, ramdisk_id=ramdisk, os_command_line=words)

    def frames(self, source: str, target: str, count: int) -> int:
        """Send frames of foreign addresses from a bridge's own port; return how many came to another one."""
        script = Path(__file__).with_name("frames_in_node.py").read_text()
        argv = ("/usr/bin/python3", "-c", script, source, target, str(count))
        return int(self.channel.check(Command(argv)))

    def is_gone(self, service: str, path: str) -> bool:
        """Whether an API no longer knows something."""
        try:
            self.api.get(service, path)
        except ApiError as failure:
            return failure.status == 404
        return False


def wait(done, timeout_s: float) -> bool:
    """Wait until something is done; return whether it is."""
    deadline = time.monotonic() + timeout_s
    while not (found := done()) and time.monotonic() < deadline:
        time.sleep(1.0)
    return bool(found)


def package(places: CloudPlaces) -> bytes:
    """Return the sample VNF package (SOL004), with the types and the image that are in Tacker's wheel."""
    content = io.BytesIO()
    own = str(uuid.uuid4())
    common = places.root / CIRROS_FILE.parent.parent.parent / "Definitions"
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in CIRROS.glob("*/**/*") if path.is_file() and path.suffix != ".pyc"):
            archive.writestr(str(path.relative_to(CIRROS)), path.read_text().replace(DESCRIPTOR_ID, own))
        for kind in ("common", "vnfd"):
            archive.write(common / TYPES.format(kind), f"Definitions/{TYPES.format(kind)}")
        archive.write(places.root / CIRROS_FILE, "Files/images/cirros.img")
    return content.getvalue()


def command_lines() -> str:
    """Return the command lines of all processes of this machine."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return "\n".join(found)
