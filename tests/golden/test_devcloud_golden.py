"""The files of the cloud's services, byte by byte."""

import configparser
import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.devcloud.services.catalogue import SERVICES
from nfvbed.cloud.devcloud.services.service import File
from nfvbed.cloud.devcloud.services.settings import CloudSettings, Secrets
from nfvbed.dataplanes.devcloud import kinds
from nfvbed.dataplanes.sriov import compute as sriov
from nfvbed.dataplanes.sriov.compute import PhysicalNic
from tests.golden.kept import check

FOLDER = Path(__file__).parent / "devcloud"
KINDS = kinds()
FILES = {file.template.removesuffix(".j2"): file for service in SERVICES for file in service.files}
COMPUTES = FOLDER.with_name("devcloud_computes")
OF_COMPUTES = {
    (kind.host, Path(file.path).name): file for kind in KINDS for service in kind.services for file in service.files
}
"""By host and name of the file."""
NICS = (PhysicalNic("data0", "ens1f0", 0x8086, 0x1889), PhysicalNic("data1", "ens1f1", 0x8086, 0x1889))
MECHANISMS = tuple(kind.mechanism for kind in KINDS if not kind.mechanism.on_demand)
ON_DEMAND = {kind.host: kind.mechanism for kind in KINDS if kind.mechanism.on_demand}
OF_SERVER = ("ml2_conf.ini", "neutron.conf")
"""Files of Neutron's server that a driver which is loaded on demand changes."""
CHAINS = FOLDER.with_name("devcloud_port_chains")
OF_CHAINS = ("ml2_conf.ini", "neutron.conf", "openvswitch_agent.ini")
"""Files of Neutron that networking-sfc changes."""
OF_SRIOV = ("ml2_conf.ini", "neutron.conf", "nova-pci.conf", "sriov_agent.ini")


class NamedSecrets(Secrets):
    """Passwords that tell what they are of."""

    def __call__(self, name: str) -> str:
        return f"<{name}>".replace(" ", "-")


@pytest.fixture(name="settings")
def _settings(tmp_path) -> CloudSettings:
    return CloudSettings(NamedSecrets(tmp_path / "secrets.json"), mechanisms=MECHANISMS)


@pytest.mark.parametrize("name", sorted(FILES))
def test_file_is_rendered_as_reviewed(settings, name):
    check(FOLDER / name, settings.render(FILES[name]))


@pytest.mark.parametrize(("host", "name"), sorted(OF_COMPUTES))
def test_file_of_a_compute_node_is_rendered_as_reviewed(tmp_path, host, name):
    settings = CloudSettings(NamedSecrets(tmp_path / "secrets.json"), host=host, reserved_pages=576)
    check(COMPUTES / host / name, settings.render(OF_COMPUTES[host, name]))


def test_files_for_virtual_functions_are_rendered_as_reviewed(tmp_path):
    mechanisms = (*MECHANISMS, sriov.MECHANISM)
    settings = CloudSettings(NamedSecrets(tmp_path / "secrets.json"), host="sriov", mechanisms=mechanisms)
    rendered = {Path(path).name: text for path, text in sriov.configuration(settings, NICS).items()}
    rendered["ml2_conf.ini"] = settings.render(FILES["ml2_conf.ini"])
    assert tuple(sorted(rendered)) == OF_SRIOV
    for name, text in rendered.items():
        check(COMPUTES / "sriov" / name, text)


@pytest.mark.parametrize("name", OF_SERVER)
@pytest.mark.parametrize("host", ON_DEMAND)
def test_files_of_a_driver_that_is_loaded_on_demand_are_rendered_as_reviewed(tmp_path, host, name):
    mechanisms = (*MECHANISMS, ON_DEMAND[host])
    settings = CloudSettings(NamedSecrets(tmp_path / "secrets.json"), mechanisms=mechanisms)
    check(COMPUTES / host / name, settings.render(FILES[name]))


@pytest.mark.parametrize("name", sorted(FILES))
def test_files_with_port_chains_are_rendered_as_reviewed(settings, name):
    text, usual = replace(settings, port_chains=True).render(FILES[name]), settings.render(FILES[name])
    assert (text != usual) is (name in OF_CHAINS)
    if name in OF_CHAINS:
        check(CHAINS / name, text)


def test_what_nova_reads_of_functions_is_json(tmp_path):
    settings = CloudSettings(NamedSecrets(tmp_path / "secrets.json"), host="sriov")
    lines = dict.fromkeys(("device_spec", "alias"))
    text = sriov.configuration(settings, NICS)["/etc/nova/nova-pci.conf"]
    for key in lines:
        lines[key] = [json.loads(line.partition("=")[2]) for line in text.splitlines() if line.startswith(key)]
    assert [one["physical_network"] for one in lines["device_spec"]] == ["data0", "data1"]
    assert [one["product_id"] for one in lines["alias"]] == ["1889"]


def test_every_golden_file_is_rendered():
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)
    assert {path.name for path in CHAINS.iterdir()} == set(OF_CHAINS)
    more = {("sriov", name) for name in OF_SRIOV} | {(host, name) for host in ON_DEMAND for name in OF_SERVER}
    assert {(path.parent.name, path.name) for path in COMPUTES.glob("*/*")} == {*OF_COMPUTES, *more}


def test_every_template_belongs_to_a_file():
    parts = {"sections.j2", "uwsgi.j2"}
    used: dict[str, set[str]] = {}
    for file in (*FILES.values(), *OF_COMPUTES.values(), *sriov.FILES):
        used.setdefault(file.package, set()).add(file.template)
    assert len(used) == 4
    for package, names in used.items():
        folder = Path(package.replace(".", "/")) / "templates"
        assert {path.name for path in folder.iterdir()} - parts == names


@pytest.mark.parametrize("host", sorted(kind.host for kind in KINDS))
def test_a_compute_node_opens_no_database(settings, host):
    for (of, name), file in OF_COMPUTES.items():
        if of == host:
            assert "mysql" not in settings.render(file), name


WITHOUT_SECTIONS = ("rabbitmq.conf", "qemu.conf", "libvirtd.conf")
WITH_SECTIONS = sorted({name for name in FILES if name.endswith((".conf", ".ini", ".cnf"))} - {*WITHOUT_SECTIONS})


@pytest.mark.parametrize("name", WITH_SECTIONS)
def test_no_section_and_no_key_comes_twice(settings, name):
    parser = configparser.RawConfigParser(strict=True, allow_no_value=True)
    parser.read_string(settings.render(FILES[name]))
    assert parser.sections() or parser.defaults()


def test_what_holds_passwords_is_not_for_everybody(settings):
    opened: list[File] = [file for file in FILES.values() if "<" in settings.render(file) and file.mode & 0o007]
    assert opened == []


def test_a_compute_service_has_no_database_of_its_own(settings):
    assert "connection" not in settings.render(FILES["nova-compute.conf"]).replace("ovsdb_connection", "")


def test_heats_environment_is_yaml(settings):
    mapped = yaml.safe_load(settings.render(FILES["heat-environment.yaml"]))
    assert mapped == {"resource_registry": {"OS::Aodh::EventAlarm": "OS::Heat::None"}}
