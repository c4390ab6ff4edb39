"""Names of kolla-ansible's that the preflight and a box's rendering use: they are in the release that is installed."""

import yaml

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla import boxglobals
from nfvbed.sites.kolla.boxglobals import BoxHost
from nfvbed.sites.kolla.ownglobals import KollaVariables
from nfvbed.sites.kolla.preflight import kernel
from nfvbed.sites.kolla.preflight.facts import KOLLAS_SETTINGS, SETTINGS_OF_BRIDGES
from tests.kolla.genconfig import ENVIRONMENT

ANSIBLE = ENVIRONMENT / "share/kolla-ansible/ansible"
LEAST = BoxHost(open_files=1000, locked_bytes=1, processes=1, has_datapath=False)
OF_COLLECTION = {"docker_apt_package", "docker_sdk_osbpo_apt_repo", "enable_docker_repo"}
"""Variables of openstack.kolla's roles: see https://opendev.org/openstack/ansible-collection-kolla, roles/docker and
roles/docker_sdk."""


def variables():
    """Names of all variables with a default."""
    files = [*ANSIBLE.glob("group_vars/all/*.yml"), *ANSIBLE.glob("roles/*/defaults/main.yml")]
    return {name for file in files for name in (yaml.safe_load(file.read_text()) or {})}


def test_settings_of_the_kernel_are_those_that_kolla_writes():
    roles = {"neutron": "neigh", "loadbalancer": "nonlocal|unix", "nova-cell": "bridge"}
    text = "".join((ANSIBLE / f"roles/{role}/tasks/config-host.yml").read_text() for role in roles)
    wanted = [name.replace("/", ".") for name in (*KOLLAS_SETTINGS, *SETTINGS_OF_BRIDGES)]
    assert [name for name in wanted if name not in text] == []


def test_defaults_that_are_compared_are_there():
    known = KollaVariables({}, open_project().root)
    assert known.number("roles/loadbalancer/defaults/main.yml", kernel.CONNECTIONS) == 40000
    files = known.number("group_vars/all/common.yml", kernel.DIMENSIONS, "ulimits", "nofile", "hard")
    locked = known.number("roles/nova-cell/defaults/main.yml", kernel.LIBVIRT, "ulimits", "memlock", "hard")
    assert (files, locked) == (1048576, 67108864)


def test_what_a_box_is_rendered_with_are_kolla_s_variables():
    box = open_project().load_site("box")
    given = set(boxglobals.rendered(box, LEAST))
    assert given - variables() == OF_COLLECTION
    assert given >= {"default_container_dimensions_docker", "ovs_datapath", "qemu_max_processes"}
    tasks = (ANSIBLE / "roles/nova-cell/tasks/config.yml").read_text()
    assert "node_custom_config }}/nova/qemu.conf.j2" in tasks
