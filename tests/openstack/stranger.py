"""A stranger to the devcloud: an ordinary project with its own clouds.yaml and instances, and cables to two networks.

What only the cloud's operator can do is done by an administrator: the project, its users, and which compute takes
instances. The cables are the links that the compute was laid with: to the stranger two devices in a namespace.
"""

import secrets
from pathlib import Path

import yaml

from nfvbed.cloud.devcloud import enable
from nfvbed.cloud.devcloud.links import generator_space
from nfvbed.cloud.tacker.connection import connect, tacker_client
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.dataplanes.linux_bridge.compute import LinuxBridgeCompute
from tests.openstack.cloud_driver import IMAGES, ROOT, verb, wait

PROJECT = "stranger"
CLOUD = "theirs"
DATA = ("deploy/variants", "vnfd", "flavors", "images", "native", "vsperf-conf", "tosca")
MARK = "vloop: ready"


class Stranger:
    """One user of the project, and the folder from which they run nfvbed."""

    def __init__(self, admin, auth, folder: Path, *roles: str) -> None:
        self._admin, self.folder = admin, folder
        self.password = secrets.token_hex(8)
        self.project = admin.identity.create_project(name=f"{PROJECT}-{secrets.token_hex(3)}")
        self.user = admin.identity.create_user(
            name=f"user-of-{self.project.name}", password=self.password, default_project_id=self.project.id
        )
        for name in roles:
            self.grant(name)
        for name in DATA:
            link = folder / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(ROOT / name)
        (folder / "deploy" / "sites").mkdir(parents=True)
        self.space = generator_space(open_cloud(ROOT).places.node("linux-bridge"))
        self.devices = ("g0", "g1")
        self.clouds = folder / "clouds.yaml"
        self._auth = auth | {"username": self.user.name, "project_name": self.project.name}
        self.write_clouds(self.password)

    def grant(self, name: str) -> None:
        """Give the user a role in the project."""
        role = self._admin.identity.find_role(name, ignore_missing=False)
        self._admin.identity.assign_project_role_to_user(self.project, self.user, role)

    def revoke(self, name: str) -> None:
        """Take a role from the user."""
        role = self._admin.identity.find_role(name, ignore_missing=False)
        self._admin.identity.unassign_project_role_from_user(self.project, self.user, role)

    def write_clouds(self, password: str) -> None:
        """Write clouds.yaml with a password."""
        cloud = {"auth": self._auth | {"password": password}, "region_name": "RegionOne", "identity_api_version": 3}
        self.clouds.write_text(yaml.safe_dump({"clouds": {CLOUD: cloud}}))
        self.clouds.chmod(0o600)

    def write_site(self, name: str, **keys) -> None:
        """Write a site's file: the cloud, its networks and the cables, and what is given."""
        document = {
            "name": name,
            "kind": "cloud",
            "os_cloud": CLOUD,
            "networks": ["data0", "data1"],
            "ports": [{"device": device, "netns": self.space} for device in self.devices],
            "accelerator": "tcg",
            **keys,
        }
        (self.folder / "deploy" / "sites" / f"{name}.yml").write_text(yaml.safe_dump(document))

    def nfvbed(self, *words: str):
        """Run a verb of nfvbed as this user would."""
        return verb(*words, root=self.folder, environment={"OS_CLIENT_CONFIG_FILE": str(self.clouds)})

    def connect(self):
        """Return a connection of their own."""
        return connect(CLOUD, self.clouds)

    def boot(self, name: str) -> str:
        """Boot vloop between the two networks, with the user's own client; return its id when it forwards."""
        mine = self.connect()
        image = mine.image.create_image(
            "their-vloop",
            filename=str(IMAGES / "vloop.qcow2"),
            disk_format="qcow2",
            container_format="bare",
            visibility="private",
            wait=True,
        )
        server = mine.create_server(
            name,
            image=image.id,
            flavor=mine.compute.find_flavor("nfvbed.hugepages").id,
            network=["data0", "data1"],
            config_drive=True,
            userdata="vloop.forward=io",
            wait=True,
            timeout=180,
        )
        printed = wait(lambda: MARK in mine.compute.get_server_console_output(server.id)["output"], 180)
        assert printed, mine.compute.get_server_console_output(server.id)
        return server.id

    def ok(self, *words: str) -> str:
        """Run a verb that must succeed; return what it printed."""
        done = self.nfvbed(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def refused(self, code: int, *words: str) -> str:
        """Run a verb that must end with an exit code; return its message, in which there is no password."""
        done = self.nfvbed(*words)
        assert done.returncode == code, f"{words}: {done.returncode} {done.stdout}\n{done.stderr}"
        assert self.password not in done.stdout + done.stderr
        assert "fix: " in done.stderr
        return done.stderr

    def delete_instances(self) -> None:
        """Delete all instances of the project."""
        mine = self.connect()
        for server in mine.compute.servers():
            mine.delete_server(server.id, wait=True, timeout=60)

    def remove(self) -> None:
        """Remove what the project holds, its VIM, its user and itself."""
        self.delete_instances()
        mine = self.connect()
        for image in mine.image.images(owner=self.project.id):
            mine.image.delete_image(image.id)
        tacker = tacker_client(self._admin)
        for vim in tacker.list_vims()["vims"]:
            if vim["vim_project"]["name"] == self.project.name:
                tacker.delete_vim(vim["id"])
        self._admin.identity.delete_user(self.user)
        self._admin.identity.delete_project(self.project)


def operate(cloud) -> None:
    """Do the operator's part: instances come to the compute with the kernel's bridge."""
    compute = LinuxBridgeCompute(open_cloud(ROOT))
    compute.start()
    enable.only(cloud.api, compute.host)
