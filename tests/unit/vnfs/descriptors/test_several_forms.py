"""Both forms of a descriptor of several machines say the same, and so does what heat-translator makes of them."""

import ipaddress

import pytest
import yaml

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.cloud.tacker.api import VnfIdentity
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.vnfs.descriptors import csar, hot, imports, naming, parsing, requestedresources, seedword, sol, written
from nfvbed.vnfs.descriptors.cloudimage import CloudImage, checksums
from nfvbed.vnfs.descriptors.naming import CloudNames
from tests import heattranslator
from tests.unit.vnfs.descriptors.requests import PROJECT
from tests.unit.vnfs.descriptors.several import EIGHT, FLAVORS, TWO, ZONES, legacy_document, request, template, vepc

GIVEN = {
    "as a package is by itself": {"soft": True},
    "on two computes": {"zones": ZONES},
    "with virtual functions": {"zones": ZONES, "direct": True},
    "on a network of the cloud": {"soft": True, "networks": {"s5-u": "backbone", "s1-u": "left"}},
    "without port security": {"soft": True, "changes": {"inherits_port_security": True}},
}
CASES = [(flavour, keys) for keys in GIVEN.values() for flavour in (EIGHT, TWO)]
NAMES = [f"{flavour} {name}" for name in GIVEN for flavour in (EIGHT, TWO)]
SUBNET = "OS::Neutron::Subnet"


def of_type(resources, kind):
    return {name: one["properties"] for name, one in resources.items() if one["type"] == kind}


def says(resources, fill, cloud):
    """Return what a HOT says, in words that both forms can have."""
    nets = of_type(resources, "OS::Neutron::Net")
    groups = of_type(resources, "OS::Nova::ServerGroup")

    def network(one):
        reference = one["network"]
        return nets[reference["get_resource"]]["name"] if "get_resource" in reference else cloud(reference)

    ports = of_type(resources, "OS::Neutron::Port")
    servers = {}
    for name, server in of_type(resources, "OS::Nova::Server").items():
        group = server.get("scheduler_hints", {}).get("group", {}).get("get_resource")
        servers[name] = {
            "flavor": fill(server["flavor"]),
            "image": fill(server["image"]),
            "zone": fill(server.get("availability_zone", "")),
            "user data": server["user_data"],
            "drive": (server["config_drive"], server["user_data_format"]),
            "group": (group, groups[group]["policies"]) if group else None,
            "ports": [
                {
                    "name": port,
                    "network": network(ports[port]),
                    "secured": ports[port].get("port_security_enabled", True),
                    "vnic": ports[port]["binding:vnic_type"],
                    "addresses": ports[port].get("fixed_ips", []),
                }
                for port in (entry["port"]["get_resource"] for entry in server["networks"])
            ],
        }
    subnets = {network(one): {**one, "network": ""} for one in of_type(resources, SUBNET).values()}
    return servers, subnets, sorted(one["name"] for one in nets.values())


def legacy_says(flavour, keys):
    document = legacy_document(flavour, **keys)
    return stack_says(yaml.safe_load(heattranslator.legacy_hot(document).template))


def stack_says(hot):
    """Return what a HOT with parameters for images, flavors and zones says."""
    defaults = {name: one["default"] for name, one in hot["parameters"].items()}

    def fill(value):
        return defaults[value["get_param"]] if isinstance(value, dict) else value

    return says(hot["resources"], fill, str)


def sol_says(flavour, keys):
    made = request(**keys)
    resources = yaml.safe_load(sol.files(made)[f"BaseHOT/{flavour}/vepc.yaml"])["resources"]
    machines = {one.name: one for one in made.flavour(flavour).machines}
    ports = {port.name: port for one in machines.values() for port in one.ports}

    def fill(value):
        if not isinstance(value, dict):
            return value
        *_, name, key = value["get_param"]
        one = machines[name]
        return {"computeFlavourId": one.flavor, "vcImageId": one.image.name}[key]

    def cloud(reference):
        _, kind, name, key = reference["get_param"]
        assert (kind, key) == ("CP", "network")
        return ports[name].network

    return says(resources, fill, cloud)


@pytest.mark.parametrize(("flavour", "keys"), CASES, ids=NAMES)
def test_both_forms_say_the_same(flavour, keys):
    assert legacy_says(flavour, keys) == sol_says(flavour, keys)


@pytest.mark.parametrize(("flavour", "keys"), CASES, ids=NAMES)
def test_hot_says_what_heat_translator_makes_of_the_template(flavour, keys):
    made = request(**keys)
    stack = hot.stack(made, made.flavour(flavour))
    assert stack.nested == {}
    assert stack_says(stack.template) == legacy_says(flavour, keys)


@pytest.mark.parametrize(("flavour", "keys"), CASES, ids=NAMES)
def test_package_is_read_and_each_flavour_is_translated(flavour, keys, tmp_path):
    made = request(**keys)
    path = tmp_path / "vepc.csar"
    path.write_bytes(csar.write(sol.files(made)))
    found = csar.read(path)
    assert parsing.parse_package(found) is not None
    assert list(imports.flavours(found)) == [EIGHT, TWO]
    named = {port.name: port.network for port in made.flavour(flavour).outer}
    named |= {one.name: one.image.name for one in made.flavour(flavour).machines}
    translated = heattranslator.package_hot(found, flavour, named)
    assert translated.files == {}
    resources = yaml.safe_load(translated.template)["resources"]
    servers = of_type(resources, "OS::Nova::Server")
    assert {name: one["image"] for name, one in servers.items()} == dict.fromkeys(servers, "vepc")
    assert len(servers) == {EIGHT: 8, TWO: 2}[flavour]
    order = {one.name: [port.name for port in one.ports] for one in made.flavour(flavour).machines}
    assert {name: [p["port"]["get_resource"] for p in one["networks"]] for name, one in servers.items()} == order
    assert all(one["network"] for one in of_type(resources, "OS::Neutron::Port").values())
    made_links = {one.name: str(one.subnet.cidr) for one in made.flavour(flavour).links if one.made}
    assert {one["network"]["get_resource"]: one["cidr"] for one in of_type(resources, SUBNET).values()} == {
        f"VL_{name}": cidr for name, cidr in made_links.items()
    }


@pytest.mark.parametrize("flavour", [EIGHT, TWO])
def test_each_machine_asks_for_what_its_flavor_has(flavour, tmp_path):
    made = request(zones=ZONES, direct=True)
    path = tmp_path / "vepc.csar"
    path.write_bytes(csar.write(sol.files(made)))
    definitions = csar.read(path).definitions[f"Definitions/vepc_flavour_{flavour}.yaml"]
    for one in made.flavour(flavour).machines:
        found = requestedresources.of_document(definitions, one.name)
        assert (found.vcpus, found.memory_mib) == (one.size.vcpus, one.size.memory_mib)
        assert dict(found.specs) == extra_specs(FLAVORS[one.flavor.removeprefix("nfvbed.")])
        assert found.vnics == {port.name: "direct" if port.data else "normal" for port in one.ports}
        assert one.name in found.places["vcpus"]


def test_package_of_one_flavour_has_no_other(tmp_path):
    path = tmp_path / "vepc.csar"
    path.write_bytes(csar.write(sol.files(request(TWO, soft=True))))
    found = csar.read(path)
    assert list(imports.flavours(found)) == [TWO]
    assert parsing.parse_package(found) is not None


def test_all_eight_have_their_links():
    made = request(soft=True).flavour(EIGHT)
    assert {one.name: [port.link for port in one.ports] for one in made.machines} == {
        "ue-enb": ["s1-mme", "s1-u"],
        "mme": ["s1-mme", "gtp-c", "s6a"],
        "hss": ["s6a", "store"],
        "pcrf": ["gx", "store"],
        "sgw": ["s1-u", "s5-u", "gtp-c"],
        "pgw": ["s5-u", "sgi", "gtp-c", "gx"],
        "igw": ["sgi", "lan"],
        "server": ["lan"],
    }
    assert [port.name for port in made.outer] == ["ue-enb_s1-u", "sgw_s1-u", "pgw_sgi", "igw_sgi"]


def test_links_between_functions_of_one_guest_are_no_networks():
    made = request(soft=True).flavour(TWO)
    assert {one.name: [port.link for port in one.ports] for one in made.machines} == {
        "core": ["s1-u", "sgi", "s1-mme"],
        "edge": ["s1-u", "sgi", "s1-mme"],
    }
    assert [link.name for link in made.links] == ["s1-u", "sgi", "s1-mme"]


def words(flavour, machine):
    found = {one.name: one.user_data for one in request(soft=True).flavour(flavour).machines}[machine]
    assert "\n" not in found
    pairs = [word.partition("=") for word in found.split(" ")]
    assert all(name.startswith(seedword.PREFIX) and sign for name, sign, _ in pairs)
    assert len({name for name, _, _ in pairs}) == len(pairs)
    return {name.removeprefix(seedword.PREFIX): value for name, _, value in pairs}


def test_user_data_says_what_a_guest_holds_and_where_its_peers_are():
    core = words(TWO, "core")
    assert core["flavour"] == TWO
    assert core["functions"] == "mme,hss,pcrf,sgw,pgw"
    assert [core[f"nic.{number}"] for number in range(3)] == ["s1-u", "sgi", "s1-mme"]
    assert core["port.sgw.gtp-c"] == "gtp-c,10.77.3.11/24"
    assert core["config.mme.plmn"] == "00101"
    assert core["peer.s1-u.ue-enb"] == "10.77.2.10"
    assert not any(key.startswith("peer.gtp-c") for key in core), "all ends of S11 and S5-C are in it"
    assert words(EIGHT, "mme") == {
        "name": "vepc",
        "flavour": "default",
        "machine": "mme",
        "functions": "mme",
        "nic.0": "s1-mme",
        "nic.1": "gtp-c",
        "nic.2": "s6a",
        "port.mme.s1-mme": "s1-mme,10.77.1.11/24",
        "port.mme.gtp-c": "gtp-c,10.77.3.10/24",
        "port.mme.s6a": "s6a,10.77.4.10/24",
        "peer.s1-mme.ue-enb": "10.77.1.10",
        "peer.gtp-c.sgw": "10.77.3.11",
        "peer.gtp-c.pgw": "10.77.3.12",
        "peer.s6a.hss": "10.77.4.11",
        "config.mme.plmn": "00101",
        "config.mme.tac": "1",
        "seed": "none",
    }


@pytest.mark.parametrize("seed", ["", "ab12"])
def test_machines_in_a_row_are_told_to_forward_with_a_secret_and_without(seed):
    made = request(vnf=PROJECT.load_vnf("vpair"), seed=seed)
    assert [one.user_data.split()[-1] for one in made.only.machines] == ["vloop.forward=io"] * 2


def test_anti_spoofing_is_off_on_every_port_of_the_path_and_on_no_other():
    made = request(soft=True)
    for flavour in (EIGHT, TWO):
        found = template(flavour, soft=True)["topology_template"]["node_templates"]
        off = {name for name, one in found.items() if one["properties"].get("anti_spoofing_protection") is False}
        assert off == {port.name for one in made.flavour(flavour).machines for port in one.ports if port.data}
    assert "ue-enb_s1-mme" not in off


def test_fixed_addresses_are_outside_the_pool_of_their_subnet():
    for one in request(soft=True).flavour(EIGHT).machines:
        for port in (port for port in one.ports if port.address):
            first, last = vepc().link(port.link).pool
            assert ipaddress.IPv4Address(port.address) < first < last


def policies(flavour, **keys):
    return template(flavour, **keys)["topology_template"].get("policies", [])


def test_two_guests_are_on_different_computes_by_a_server_group():
    (group,) = policies(TWO, zones=ZONES)
    assert group == {
        "PG_apart": {
            "type": "tosca.policies.tacker.Placement",
            "properties": {"policy": "anti-affinity", "strict": True},
            "targets": ["core", "edge"],
        }
    }
    (group,) = policies(TWO, soft=True)
    assert group["PG_apart"]["properties"]["strict"] is False


def test_eight_machines_are_kept_apart_by_zones():
    made = request(zones=ZONES)
    zones = {one.name: one.zone for one in made.flavour(EIGHT).machines}
    assert {name for name, zone in zones.items() if zone == "right"} == {"igw", "server"}
    assert set(zones.values()) == {"left", "right"}
    definitions = yaml.safe_load(sol.files(made)["Definitions/vepc_flavour_default.yaml"])["topology_template"]
    assert set(definitions["groups"]) == {"PG_core", "PG_edge"}
    found = {name: one for entry in definitions["policies"] for name, one in entry.items()}
    assert found["apart_edge_core"]["targets"] == ["PG_edge", "PG_core"]
    assert found["rule_core"]["type"] == "tosca.policies.nfv.AffinityRule"


def test_placement_that_is_only_wished_for_is_no_rule_of_the_definitions():
    definitions = yaml.safe_load(sol.files(request(soft=True))["Definitions/vepc_flavour_default.yaml"])
    kinds = {one["type"] for entry in definitions["topology_template"]["policies"] for one in entry.values()}
    assert not any("Affinity" in kind for kind in kinds)


@pytest.mark.parametrize("zones", [{}, {"core": "left"}, {"core": "left", "edge": "left"}])
def test_groups_that_nothing_keeps_apart_are_refused(zones):
    with pytest.raises(UnsupportedError, match="groups core and edge of VNF vepc cannot be kept apart") as caught:
        request(zones=zones)
    assert "vnfd/vepc/vnf.yml" in caught.value.where
    assert "--zone core=ZONE --zone edge=ZONE" in caught.value.fix


@pytest.mark.parametrize(
    ("flavours", "keys", "said"),
    [
        (("three",), {}, "nothing of this name in flavours: 'three'"),
        ((), {"networks": {"s12": "x"}}, "nothing of this name in links: 's12'"),
        ((), {"zones": {"cores": "x"}, "soft": True}, "nothing of this name in placement: 'cores'"),
    ],
)
def test_names_that_the_file_does_not_have_are_refused(flavours, keys, said):
    with pytest.raises(ConfigurationError, match=said) as caught:
        request(*flavours, **({"soft": True} | keys))
    assert caught.value.where
    assert caught.value.fix


def test_same_request_has_the_same_id_and_another_one_has_another():
    different = [
        request(soft=True),
        request(zones=ZONES),
        request(TWO, soft=True),
        request(soft=True, networks={"s5-u": "x"}),
        request(soft=True, changes={"purpose": "x"}),
        request(soft=True, changes={"inherits_port_security": True}),
        request(soft=True, image=CloudImage("other")),
    ]
    assert len({made.descriptor_id for made in different}) == len(different)
    assert request(soft=True).descriptor_id == different[0].descriptor_id
    assert csar.write(sol.files(request(soft=True))) == csar.write(sol.files(request(soft=True)))


def test_images_are_packed_once_where_their_files_are_given(tmp_path):
    file = tmp_path / "core.qcow2"
    file.write_bytes(b"an image")
    made = request(soft=True, image=CloudImage("vepc", file, checksums(file)))
    assert sol.files(made)["Files/images/core.qcow2"] == b"an image"
    with pytest.raises(ConfigurationError, match="SHA-512"):
        sol.files(request(soft=True, image=CloudImage("vepc")))


def test_image_of_a_machine_goes_before_that_of_all():
    vnf = vepc()
    own = vnf.machines[0].model_copy(update={"image": {"file": "x"}})
    made = request(
        EIGHT,
        vnf=vnf.model_copy(update={"machines": (own, *vnf.machines[1:])}),
        soft=True,
        own_images={"ue-enb": CloudImage("vepc-ue-enb")},
    )
    assert [one.image.name for one in made.flavour(EIGHT).machines][:2] == ["vepc-ue-enb", "vepc"]


def test_networks_that_are_made_are_not_looked_for_in_the_cloud():
    known = CloudNames(["data0", "data1"], ["nfvbed.default", "nfvbed.hugepages"], ["vepc"])
    naming.require_names(legacy_document(EIGHT, soft=True), known)
    with pytest.raises(ConfigurationError, match="unknown network: 'backbone'"):
        naming.require_names(legacy_document(EIGHT, soft=True, networks={"s5-u": "backbone"}), known)


def test_request_to_instantiate_names_the_flavour():
    asked_for = written.for_api(VnfIdentity("abcd", "vnf1"), request(TWO, soft=True), "sol")
    assert (asked_for.flavour, asked_for.level) == (TWO, "")
    assert dict(asked_for.networks) == {
        "core_s1-u": "data0",
        "core_sgi": "data1",
        "edge_s1-u": "data0",
        "edge_sgi": "data1",
    }
