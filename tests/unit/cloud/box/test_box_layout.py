"""A box is what the site's file says: machines, addresses, cables, ports of the switch."""

from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.box.layout import MANAGEMENT, layout_of
from nfvbed.cloud.box.switch import bridge_words, port_words
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import parse_document
from nfvbed.spec.site import AnySite
from nfvbed.spec.validate import build_one_of
from tests.refusals import misconfigured

PROJECT = open_project()
TEXT = (PROJECT.sites_folder / "box.yml").read_text()


def site(change=lambda data: None):
    data = yaml.safe_load(TEXT)
    change(data)
    return build_one_of(parse_document(Path("box.yml"), yaml.safe_dump(data, sort_keys=False)), AnySite)


def refused(change):
    return misconfigured(lambda: site(change), where="box.yml:")


def cables(layout, machine):
    return {cable.device: cable for cable in layout.machine(machine).cables}


def test_machines_and_their_devices_are_those_of_the_file():
    layout = layout_of(site())
    assert [machine.name for machine in layout.machines] == ["controller", "compute1", "compute2", "generator"]
    assert list(cables(layout, "controller")) == ["mg0", "ex0", "dp0", "ov0"]
    assert list(cables(layout, "generator")) == ["mg0", "dp0", "dp1"]
    management = cables(layout, "compute2")["mg0"]
    assert (management.mac, management.address) == ("52:54:00:10:00:0c", "10.10.0.12/24")
    assert management.bridge == MANAGEMENT
    assert layout.hugepages == 2304


def test_the_generator_has_access_ports_in_the_vlans_of_the_file():
    def other(data):
        data["generator"]["vlans"] = [210, 211]

    ports = cables(layout_of(site(other)), "generator")
    assert [(ports[name].tag, ports[name].trunks) for name in ("dp0", "dp1")] == [(210, None), (211, None)]


def test_trunks_pass_the_vlans_of_their_network():
    ports = cables(layout_of(site()), "controller")
    assert (ports["ex0"].bridge, ports["ex0"].trunks) == ("sw-provider", (100, 149))
    assert (ports["dp0"].bridge, ports["dp0"].trunks, ports["dp0"].tag) == ("sw-data", (200, 299), None)


def test_the_controllers_tunnels_end_where_those_of_computes_do():
    layout = layout_of(site())
    overlay = cables(layout, "controller")["ov0"]
    assert (overlay.address, overlay.bridge) == ("10.20.0.10/24", cables(layout, "compute1")["dp0"].bridge)
    compute = cables(layout, "compute1")["ov0"]
    assert (compute.address, compute.starts_up) == ("", False)  # which of the two has the address, its plane decides


def test_no_two_cables_share_a_mac_or_a_port_and_names_are_short_enough():
    def longer(data):
        data["hosts"] = {f"{name}-of-this-rack": host for name, host in data["hosts"].items()}
        data["generator"]["host"] = "generator-of-this-rack"

    for changed in (site(), site(longer)):
        found = [cable for _, cable in layout_of(changed).cables]
        for attribute in ("mac", "port"):
            values = [getattr(cable, attribute) for cable in found]
            assert len(set(values)) == len(values) == 13
        assert max(len(cable.port) for cable in found) <= 15


def test_nfvbed_and_the_registry_have_the_first_address_that_no_machine_has():
    def first(data):
        data["hosts"]["controller"]["address"] = "10.10.0.1"

    assert layout_of(site()).address == "10.10.0.1/24"
    assert layout_of(site(first)).registry == "10.10.0.2:5000"


def test_a_machine_on_another_network_is_refused():
    def away(data):
        data["hosts"]["compute1"]["address"] = "10.11.0.11"

    with pytest.raises(ConfigurationError) as failure:
        layout_of(site(away))
    assert failure.value.where == "deploy/sites/box.yml hosts.compute1.address"
    assert "10.10.0.0/24" in failure.value.fix


def test_a_machine_with_the_name_of_the_switch_is_refused():
    def renamed(data):
        data["hosts"]["switch"] = data["hosts"].pop("compute2")

    with pytest.raises(ConfigurationError, match="called switch"):
        layout_of(site(renamed))


def test_a_physical_function_is_in_no_box():
    def functions(data):
        nic = data["hosts"]["compute1"]["nics"][1]
        nic.update(role="sriov", functions=2, driver="mlx5_core")

    with pytest.raises(ConfigurationError) as failure:
        layout_of(site(functions))
    assert "role sriov" in failure.value.observed and "af_packet" in failure.value.fix


def test_what_no_box_has_is_refused_with_its_key():
    def change(**values):
        return lambda data: data.update(values)

    def of_compute(**values):
        return lambda data: data["hosts"]["compute1"].update(values)

    assert "leave ssh out" in str(refused(change(ssh={"key": "/k", "known_hosts": "/h"})))
    assert "Debian" in str(refused(change(base_distro="ubuntu")))
    assert "hugepages_2m" in str(refused(of_compute(numa=[{"cores": "0-1", "hugepages_1g": 2}])))
    assert "ssh" in str(refused(of_compute(ssh={"key": "/k", "known_hosts": "/h"})))
    pci = [
        {"role": "management", "mac": "52:54:00:10:00:0b"},
        {"role": "dpdk", "pci": "0000:3b:00.0", "network": "data"},
    ]
    assert "pci" in str(refused(of_compute(nics=pci)))


def test_images_are_said_of_a_box_alone():
    def given(data):
        data["machines"] = "given"

    assert "machines: box" in str(refused(given))


def test_the_way_into_a_box_is_below_the_project():
    loaded = PROJECT.load_site("box")
    assert loaded.ssh.key == PROJECT.root.resolve() / ".nfvbed/box/box/key"
    assert loaded.reached("compute1").known_hosts == PROJECT.root.resolve() / ".nfvbed/box/box/known_hosts"
    assert PROJECT.load_site("rack").ssh.key == Path("/etc/nfvbed/rack")


def test_words_for_open_vswitch_are_the_layouts():
    layout = layout_of(site())
    assert bridge_words(layout)[:4] == ["--may-exist", "add-br", "sw-provider", "--"]
    words = port_words([cable for _, cable in layout.cables])
    assert not [word for word in words if word.endswith("-mg0")]
    place = words.index("generator-dp1")
    assert words[place + 1 : place + 6] == ["--", "set", "Port", "generator-dp1", "tag=201"]
    trunk = next(word for word in words if word.startswith("trunks=0,100"))
    assert trunk == "trunks=0," + ",".join(map(str, range(100, 150)))
