"""The images of a rack in a box, beside the real kolla-ansible and Kolla's real templates."""

import subprocess
from pathlib import Path

import pytest

from nfvbed.cloud.box.images.build import adapted, users_of
from nfvbed.cloud.box.images.dockerfiles import Dockerfiles
from nfvbed.cloud.box.images.root import user_files
from nfvbed.cloud.devcloud.root.lists import read_packages
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla import boximages

ROOT = Path(__file__).resolve().parents[2]
NAMES = read_packages(boximages.FOLDER / "images.txt")
START = "/usr/local/bin/kolla_start"
EXTEND = "/usr/local/bin/kolla_extend_start"


@pytest.fixture(scope="module")
def dockerfiles(tmp_path_factory: pytest.TempPathFactory) -> Dockerfiles:
    folder = tmp_path_factory.mktemp("images")
    argv = [str(ROOT / ".nfvbed/kolla/bin/kolla-build"), "--template-only", "--base", "debian"]
    subprocess.run(
        [*argv, "--namespace", "kolla", "--work-dir", str(folder)], check=True, capture_output=True, timeout=120
    )
    return Dockerfiles(folder)


@pytest.mark.on_demand
@pytest.mark.timeout(900)
def test_the_list_is_what_kolla_ansible_asks_for() -> None:
    found = boximages.find(open_project(ROOT))
    assert found.names == NAMES
    assert found.tag == (boximages.FOLDER / "tag.txt").read_text().strip()


def test_every_image_starts_with_kollas_own_program(dockerfiles: Dockerfiles) -> None:
    users = dockerfiles.users(dockerfiles.names)
    for name in NAMES:
        image = dockerfiles.image(name)
        assert image.entrypoint[0] == "dumb-init" and image.command == ("kolla_start",), name
        assert image.files[START].mode == 0o755 and image.files[START].content.startswith(b"#!/bin/bash"), name
        assert EXTEND in image.files, name
        assert image.user in ("", *users), name
        assert image.labels["name"] == name and image.labels["kolla_version"] == "22.2.0"
        assert not [path for path in image.files if path.startswith(("/etc/apt", "/tmp"))], name


def test_chains_users_and_commands_are_those_of_the_release(dockerfiles: Dockerfiles) -> None:
    chain = [folder.name for folder in dockerfiles.chain("nova-compute")]
    assert chain == ["base", "openstack-base", "nova-base", "nova-compute"]
    compute = dockerfiles.image("nova-compute")
    assert compute.user == "nova"
    assert compute.environment["PATH"].startswith("/var/lib/kolla/venv/bin:")
    assert compute.files["/etc/sudoers.d/kolla_nova_sudoers"].mode == 0o440
    assert dockerfiles.image("mariadb-server").entrypoint == ("dumb-init", "--")
    assert dockerfiles.image("kolla-toolbox").environment["PATH"].startswith("/opt/ansible/bin:")
    assert dockerfiles.image("ovsdpdk-vswitchd").links["/etc/alternatives/ovs-vswitchd"].endswith("ovs-vswitchd-dpdk")
    assert not dockerfiles.image("openvswitch-vswitchd").links


def test_users_have_kollas_numbers(dockerfiles: Dockerfiles) -> None:
    files = user_files(users_of(dockerfiles, NAMES).values())
    assert "nova:x:42436:42436::/var/lib/nova:/bin/bash\n" in files["passwd"]
    assert "memcached:x:42457:42457::/run/memcache:/usr/sbin/nologin\n" in files["passwd"]
    groups = dict(line.split(":", 1) for line in files["group"].splitlines())
    assert groups["hugetlbfs"].endswith(":nova,qemu") and groups["qemu"].endswith(":nova")
    assert "tacker" in groups["kolla"].rpartition(":")[2].split(",")


def test_what_is_ours_is_said(dockerfiles: Dockerfiles) -> None:
    for name in NAMES:
        assert adapted(dockerfiles.image(name)).labels["nfvbed.images"] == "ours"
