"""Files of machines, and of releases: what is wrong is named with file, key, what was seen and what to do."""

import shutil
from pathlib import Path

import pytest
import yaml

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import parse_document
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.site import AnySite, KollaSiteSpec
from nfvbed.spec.validate import build_one_of
from tests.refusals import misconfigured

PROJECT = open_project()
TEXT = (PROJECT.sites_folder / "rack.yml").read_text()


def refused(change):
    data = yaml.safe_load(TEXT)
    change(data)
    document = parse_document(Path("rack.yml"), yaml.safe_dump(data, sort_keys=False))
    return misconfigured(lambda: build_one_of(document, AnySite), where="rack.yml:")


def compute(data):
    return data["hosts"]["compute1"]


def by_mac(data, driver):
    """Make a compute's data NIC a device that has no PCI address."""
    nic = compute(data)["nics"][1]
    nic.pop("pci")
    nic.update(mac="52:54:00:30:00:0b", driver=driver)


def test_a_data_nic_without_a_pci_address_is_found_by_its_mac():
    data = yaml.safe_load(TEXT)
    by_mac(data, "af_packet")
    site = build_one_of(parse_document(Path("rack.yml"), yaml.safe_dump(data)), AnySite)
    (nic,) = site.hosts["compute1"].nics_of("dpdk")
    assert nic.is_packet_socket and nic.stays_with_kernel and nic.pci is None


def test_examples_are_sites():
    rack = PROJECT.load_site("rack")
    assert isinstance(rack, KollaSiteSpec)
    assert list(rack.hosts_with("compute")) == ["compute1", "compute2"]
    two = PROJECT.load_site("rack-two-machines")
    assert list(two.hosts_with("controller")) == ["compute1"] and len(two.hosts) == 2


def test_the_kind_in_place_of_a_name_leads_to_the_sites_of_that_kind(tmp_path):
    with pytest.raises(ConfigurationError) as failure:
        PROJECT.load_site("kolla")
    kolla = "box, box-twins, rack, rack-connectx, rack-three-controllers, rack-two-machines"
    assert failure.value.observed == f"sites of that kind: {kolla}"
    assert "rack.yml to kolla.yml" in failure.value.fix

    shutil.copytree(PROJECT.root / "deploy" / "variants", tmp_path / "deploy" / "variants")
    (tmp_path / "deploy" / "sites").mkdir()
    (tmp_path / "deploy" / "sites" / "damaged.yml").write_text("kind: [")
    (tmp_path / "deploy" / "sites" / "mine.yml").write_text(TEXT.replace("name: rack", "name: mine"))
    mine = open_project(tmp_path)
    with pytest.raises(ConfigurationError, match="no site is named kolla"):
        mine.load_site("kolla")
    with pytest.raises(ConfigurationError, match="unknown site 'openstack'"):
        mine.load_site("openstack")
    # As the error says.
    (tmp_path / "deploy" / "sites" / "kolla.yml").write_text(TEXT.replace("name: rack", "name: kolla"))
    assert open_project(tmp_path).load_site("kolla").name == "kolla"


def test_nics_have_no_names():
    def named(data):
        compute(data)["nics"][0] = {"role": "management", "name": "eth0"}

    failure = refused(named)
    assert "unknown key" in failure.what and failure.where.endswith("hosts.compute1.nics[0].name")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: compute(d)["nics"][1].pop("pci"), "pci or by mac"),
        (lambda d: compute(d)["nics"][1].update(mac="52:54:00:00:00:01"), "pci or by mac"),
        (lambda d: compute(d)["nics"][1].pop("network"), "network is the physical network"),
        (lambda d: compute(d)["nics"][2].pop("functions"), "functions is at least 1"),
        (lambda d: compute(d)["nics"][0].update(network="data"), "management has none"),
        (lambda d: compute(d)["nics"].pop(0), "one NIC of role management"),
        (lambda d: compute(d)["nics"][2].update(pci="0000:3b:00.0"), "twice"),
        (lambda d: compute(d)["nics"][1].update(driver="af_packet"), "role dpdk that is found by mac"),
        (lambda d: compute(d)["nics"][0].update(driver="af_packet"), "role dpdk that is found by mac"),
        (lambda d: by_mac(d, "vfio-pci"), "found by pci: it leaves the kernel; a device without a PCI address has"),
        (lambda d: compute(d)["nics"][2].update(numa_node=2), "NUMA node that numa does not have"),
        (lambda d: compute(d).pop("numa"), "a compute has numa"),
        (lambda d: compute(d).pop("overlay_address"), "overlay_address"),
        (lambda d: compute(d)["numa"][1].update(cores="0-7"), "isolated names"),
        (lambda d: compute(d)["numa"][1].update(cores="0-31"), "a core is of two nodes"),
        (lambda d: compute(d).update(roles=["compute", "generator"]), "a generator has no other role"),
        (lambda d: d["hosts"].pop("controller"), "at least one machine has the role controller"),
        (
            lambda d: (compute(d).update(roles=["controller"]), compute(d)["nics"].pop(1)),
            "controller compute1 has a NIC of role external or dpdk",
        ),
        (lambda d: compute(d).update(address="10.10.0.250"), "is the address of two"),
        (lambda d: compute(d)["nics"][1].update(network="other"), "networks does not name"),
        (lambda d: d["hosts"].pop("generator"), "the one machine that has the role generator"),
        (lambda d: d.pop("generator"), "the key generator describes it"),
        (lambda d: d["networks"]["data"].update(vlans=[299, 200]), "above the last one"),
    ],
)
def test_what_does_not_fit_is_said(change, said):
    failure = refused(change)
    assert said in f"{failure.what} {failure.observed} {failure.fix}"


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda d: compute(d).update(overlay_address="10.20.0.11"), "hosts.compute1.overlay_address"),
        (lambda d: compute(d).update(address="10.20.0.300"), "hosts.compute1.address"),
        (lambda d: compute(d)["numa"][0].update(isolated="7-2x"), "hosts.compute1.numa[0].isolated"),
        (lambda d: compute(d)["nics"][1].update(pci="3b:00.0"), "hosts.compute1.nics[1].pci"),
        (lambda d: compute(d)["nics"][0].update(mac="53:54:00:00:00:01"), "hosts.compute1.nics[0].mac"),
        (lambda d: d["networks"]["data"].update(mtu=90000), "networks.data.mtu"),
        (lambda d: d["networks"]["data"].update(vlans=[0, 5]), "networks.data.vlans[0]"),
    ],
)
def test_a_wrong_value_is_named_with_its_key(change, key):
    assert refused(change).where.endswith(key)


def test_every_release_is_read():
    assert NEWEST in PROJECT.kolla_release_names
    for name in PROJECT.kolla_release_names:
        assert PROJECT.load_kolla_release(name).name == name


def test_a_release_that_another_refers_to_is_there(tmp_path):
    folder = tmp_path / "kolla" / "releases"
    folder.mkdir(parents=True)
    (tmp_path / "deploy" / "variants").mkdir(parents=True)
    for name in PROJECT.kolla_release_names:
        shutil.copy(PROJECT.kolla_releases_folder / f"{name}.yml", folder)
    text = (folder / "ocata.yml").read_text().replace("name: ocata", "name: pike")
    (folder / "pike.yml").write_text(text + "planes_as: ocata\n")
    assert open_project(tmp_path).load_kolla_release("pike").planes_as == "ocata"
    (folder / "pike.yml").write_text(text + "planes_as: octa\n")
    with pytest.raises(ConfigurationError, match="unknown release 'octa'") as failure:
        open_project(tmp_path).load_kolla_release("pike")
    assert failure.value.where.endswith("planes_as")


def test_a_release_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="unknown release 'octa'") as failure:
        PROJECT.load_kolla_release("octa")
    assert "did you mean 'ocata'" in failure.value.fix
