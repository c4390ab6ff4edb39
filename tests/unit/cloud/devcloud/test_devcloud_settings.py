"""Passwords, addresses and flavors of a cloud."""

import json

import pytest

from nfvbed.cloud import novaflavor
from nfvbed.cloud.devcloud.contents import SMALL, flavor_request
from nfvbed.cloud.devcloud.services import keystone, mariadb
from nfvbed.cloud.devcloud.services.catalogue import OPENSTACK, SERVICES
from nfvbed.cloud.devcloud.services.settings import PORTS, CloudSettings, Secrets
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.spec.flavor import Flavor


def test_a_password_is_made_once_and_kept_for_its_owner_alone(tmp_path):
    path = tmp_path / "secrets.json"
    first = Secrets.open(path)("admin")
    assert len(first) == 32
    assert Secrets.open(path)("admin") == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert Secrets.open(path)("nova") != first
    assert set(json.loads(path.read_text())) == {"admin", "nova"}


def test_addresses_of_databases_and_messages(tmp_path):
    path = tmp_path / "secrets.json"
    path.write_text(json.dumps({"database nova": "p1", "rabbitmq": "p2"}))
    settings = CloudSettings(Secrets.open(path))
    assert settings.database("nova_api", "nova") == "mysql+pymysql://nova:p1@127.0.0.1/nova_api?charset=utf8"
    assert settings.messages() == "rabbit://nfvbed:p2@127.0.0.1:5672/"
    assert settings.auth_url == "http://127.0.0.1:15000"


def test_sql_makes_databases_and_users_and_can_be_repeated():
    sql = mariadb.statements({"nova": "nova", "nova_api": "nova"}, {"nova": "abc"})
    assert sql.splitlines() == [
        "CREATE DATABASE IF NOT EXISTS nova CHARACTER SET utf8;",
        "CREATE DATABASE IF NOT EXISTS nova_api CHARACTER SET utf8;",
        "CREATE USER IF NOT EXISTS 'nova'@'%' IDENTIFIED BY 'abc';",
        "GRANT ALL PRIVILEGES ON nova.* TO 'nova'@'%';",
        "GRANT ALL PRIVILEGES ON nova_api.* TO 'nova'@'%';",
    ]


def test_no_command_has_a_password_among_its_arguments(tmp_path):
    commands = [command for service in SERVICES for command in service.migrations]
    commands += [keystone.bootstrap("geheim"), mariadb.execute("IDENTIFIED BY 'geheim'")]
    assert [command for command in commands if "geheim" in " ".join(command.argv)] == []


def test_names_of_processes_are_unique_and_apis_have_a_port():
    names = [process.name for service in SERVICES for process in service.processes]
    assert len(set(names)) == len(names)
    assert {endpoint.port for service in OPENSTACK for endpoint in service.endpoints} <= set(PORTS.values())


def test_keystones_address_in_the_catalogue_has_no_version():
    (endpoint,) = next(service.endpoints for service in OPENSTACK if service.name == "keystone")
    assert endpoint.path == "/"


@pytest.mark.parametrize(
    ("flavor", "specs"),
    [
        (SMALL, {"hw:cpu_policy": "shared", "hw:mem_page_size": "2048"}),
        (
            Flavor(name="a", title="A", cpu_policy="dedicated", thread_policy="isolate", emulator_threads="share"),
            {
                "hw:cpu_policy": "dedicated",
                "hw:mem_page_size": "2048",
                "hw:cpu_thread_policy": "isolate",
                "hw:emulator_threads_policy": "share",
            },
        ),
        (
            Flavor(name="a", title="A", cpu_policy="dedicated", realtime=True, queues=2),
            {
                "hw:cpu_policy": "dedicated",
                "hw:mem_page_size": "2048",
                "hw:cpu_realtime": "yes",
                "hw:cpu_realtime_mask": "^0",
                "hw:vif_multiqueue_enabled": "true",
            },
        ),
        (
            Flavor(name="a", title="A", memory_mib=768, numa=({"cpus": (0, 1), "memory_mib": 768},)),
            {
                "hw:cpu_policy": "shared",
                "hw:mem_page_size": "2048",
                "hw:numa_nodes": "1",
                "hw:numa_cpus.0": "0,1",
                "hw:numa_mem.0": "768",
            },
        ),
    ],
)
def test_a_flavor_has_novas_extra_specs(flavor, specs):
    assert novaflavor.extra_specs(flavor) == specs


def test_every_flavor_of_the_project_has_a_body(root):
    project = open_project(root)
    bodies = [flavor_request(project.load_flavor(name)) for name in project.flavor_names]
    assert {body["name"] for body in bodies} == {f"nfvbed.{name}" for name in project.flavor_names}
