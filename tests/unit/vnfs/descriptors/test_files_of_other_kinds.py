"""Whatever file is given: it is read, or refused with file and line; no other exception leaves the readers."""

import copy
import json
from pathlib import Path

import pytest
import yaml

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, NfvbedError, UnsupportedError, UsageError
from nfvbed.vnfs.descriptors import csar, descriptorfile, descriptorfit, sol
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorFile
from nfvbed.vnfs.descriptors.naming import CloudNames
from tests.unit.vnfs.descriptors.requests import request

PROJECT = open_project(Path(__file__).parents[4])
NOTHING = CloudNames((), (), (), (), (), (), {"mgmt": ["192.0.2.0/24"]})
HEAD = "tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\n"
VDU = "    VDU1:\n      type: tosca.nodes.nfv.VDU.Tacker\n      properties: {image: cirros, flavor: m1.tiny}\n"
OTHERS = {
    # Their first keys: osm_im (vnfd.yang, nsd.yang) and ETSI's SOL006 (etsi-nfv-vnfd.yang); see `foreign.py`.
    "osm": ("vnfd-catalog:\n  vnfd:\n  - {id: rx1}\n", 1, "a VNF descriptor of OSM"),
    "osm-prefixed": ("# rx\nvnfd:vnfd-catalog:\n  vnfd: []\n", 2, "a VNF descriptor of OSM"),
    "osm-nsd": ("nsd:nsd-catalog:\n  nsd: []\n", 1, "a network service descriptor of OSM"),
    "sol006": ("vnfd:\n  id: vyos\n  vdu: []\n", 1, "SOL006"),
    "hot": ("description: a stack\nheat_template_version: 2016-10-14\n", 2, "Heat's"),
    "kubernetes": ("apiVersion: v1\nkind: Pod\n", 1, "Kubernetes"),
    "json": ('{"etsi-nfv-vnfd:vnfd": {"id": "x"}}', 1, "SOL006"),
    "no-keys": ("just words\n", 1, "must hold keys and values"),
    "list": ("- a\n- b\n", 1, "must hold keys and values"),
    "empty": ("", 1, "must hold keys and values"),
    "no-yaml": (f"{HEAD.strip()[:-12]}\nprofile_for\nVNFDs (here)\nimports: [a]\n", 3, "not valid YAML"),
    "no-topology": (HEAD + "description: none\n", 1, "no topology_template"),
    "null-topology": (HEAD + "topology_template:\n", 2, "topology_template"),
    "list-of-inputs": (HEAD + "topology_template:\n  inputs:\n  - a\n  node_templates:\n" + VDU, 3, "inputs"),
    "list-of-nodes": (HEAD + "topology_template:\n  node_templates:\n  - VDU1: {}\n", 3, "node_templates"),
    "null-node": (HEAD + "topology_template:\n  node_templates:\n" + VDU + "    CP1:\n", 7, "CP1"),
    "no-machine": (HEAD + "topology_template:\n  node_templates:\n    V: {type: tosca.nodes.nfv.VL,"
                   " properties: {vendor: x, network_name: y}}\n", 3, "no virtual machine"),
    "link-without-properties": (HEAD + "topology_template:\n  node_templates:\n" + VDU
                                + "    VL1: {type: tosca.nodes.nfv.VL}\n", 7, "VL1"),
}  # fmt: skip
NODE = "topology_template:\n  node_templates:\n"
SERVICES = {
    # What Tacker 8.0.0's samples and ETSI's nsd types (SOL001 v2.6.1) begin with.
    "nsd": (HEAD + "imports:\n- sample-tosca-vnfd1\n" + NODE + "    V: {type: tosca.nodes.nfv.VNF1}\n", 2, "Mistral"),
    "nsd-with-graph": (HEAD + "imports: [vnfd1]\n" + NODE + "    VNF1: {type: tosca.nodes.nfv.VNF1}\n  groups:\n"
                       "    VNFFG1: {type: tosca.groups.nfv.VNFFG, members: []}\n", 7, "NSD"),
    "vnffgd": (HEAD + NODE + "    path:\n      type: tosca.nodes.nfv.FP.TackerV2\n", 4, "VNFFGD"),
    "sol001-nsd": ("tosca_definitions_version: tosca_simple_yaml_1_2\nimports: [etsi_nfv_sol001_nsd_types.yaml]\n"
                   + NODE + "    NS:\n      type: tosca.nodes.nfv.NS\n", 5, "SOL005"),
    "sol001-nsd-of-own-type": ("tosca_definitions_version: tosca_simple_yaml_1_2\nimports: [nsd.yaml]\nnode_types:\n"
                               "  their.NS: {derived_from: tosca.nodes.nfv.NS}\n" + NODE
                               + "    NS: {type: their.NS}\n", 7, "SOL005"),
}  # fmt: skip
BINARY = {
    "gzip": (b"\x1f\x8b\x08\x00", "gzip"),
    "program": (b"\x7fELF\x02\x01", "program"),
    "latin": (b"a: \xe9\n", "UTF-8"),
}
UPF = """\
tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
topology_template:
  inputs:
    size: {type: string, default: m1.tiny}
  node_templates:
    VDU1:
      type: tosca.nodes.nfv.VDU.Tacker
      capabilities:
        nfv_compute:
          properties:
            {num_cpus: 2, mem_size: 512 MB, mem_page_size: 2, numa_nodes: {n0: {id: 0, vcpus: [0], mem_size: 512}}}
      properties: {image: cirros, key_name: core5g, availability_zone: edge, user_data: x}
    CP1:
      type: tosca.nodes.nfv.CP.Tacker
      properties: {ip_address: 192.0.2.111, type: vnic}
      requirements:
        - virtualLink: {node: VL1}
        - virtualBinding: {node: VDU1}
    VL1:
      type: tosca.nodes.nfv.VL
      properties: {network_name: mgmt, vendor: Tacker}
    FIP1:
      type: tosca.nodes.network.FloatingIP
      properties: {floating_network: public, floating_ip_address: 198.51.100.111}
      requirements:
        - link: {node: CP1}
"""


def read_whole(path):
    """Ask all that is asked of a file before a cloud is."""
    found = descriptorfile.read(DescriptorFile(path, "x"))
    descriptorfit.fit(found, PROJECT.load_variant("ovs-dpdk"), {})
    found.names()
    found.lacking(NOTHING)


def refused(entry, tmp_path, kind):
    """Read a file that is refused at its line; return the error."""
    text, line, said = entry
    path = tmp_path / "their.yaml"
    path.write_text(text)
    with pytest.raises(kind) as failure:
        read_whole(path)
    assert failure.value.where.startswith(f"{path}:{line}")
    assert said in str(failure.value)
    return failure.value


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_another_kind_is_named_with_its_line(name, tmp_path):
    assert refused(OTHERS[name], tmp_path, ConfigurationError).fix


@pytest.mark.parametrize("name", SERVICES)
def test_a_network_service_is_unsupported_with_what_tacker_lacks(name, tmp_path):
    refused(SERVICES[name], tmp_path, UnsupportedError)


@pytest.mark.parametrize("name", BINARY)
def test_a_file_that_is_no_text_is_named(name, tmp_path):
    content, said = BINARY[name]
    path = tmp_path / "their.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="no TOSCA descriptor|no text") as failure:
        read_whole(path)
    assert failure.value.where == f"{path}:1"
    assert said in str(failure.value)


def test_a_large_file_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    path = tmp_path / "large.yaml"
    path.write_text(HEAD + "# " + "x" * descriptorfile.foreign.MOST_BYTES)
    monkeypatch.setattr(descriptorfile, "parse_document", lambda *_: pytest.fail("it is parsed"))
    with pytest.raises(ConfigurationError, match="too large"):
        read_whole(path)
    path.write_text("vnfd-catalog:\n" + "# " + "x" * descriptorfile.foreign.MOST_BYTES)
    with pytest.raises(ConfigurationError, match="of OSM"):
        read_whole(path)


def paths(data, key=()):
    for part, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield (*key, part)
        yield from paths(value, (*key, part))


def changed(data, key, value):
    data = inner = copy.deepcopy(data)
    for part in key[:-1]:
        inner = inner[part]
    inner[key[-1]] = value
    return data


def refused_or_read(path):
    try:
        read_whole(path)
    except (ConfigurationError, UsageError) as failure:
        assert failure.where.startswith(str(path)), failure
    except NfvbedError as failure:
        pytest.fail(f"{failure}")


@pytest.mark.parametrize("value", [None, [], {}, "x", 7, ["x"], {"get_input": "none"}], ids=repr)
def test_no_part_of_a_template_that_is_something_else_leads_to_another_exception(value, tmp_path):
    path, data = tmp_path / "their.yaml", yaml.safe_load(UPF)
    path.write_text(UPF)
    read_whole(path)
    for key in paths(data):
        path.write_text(json.dumps(changed(data, key, value)))
        refused_or_read(path)


@pytest.mark.parametrize(("first", "value"), [*enumerate([None, [], "x", {"get_input": "none"}])], ids=repr)
def test_no_part_of_a_packages_definitions_does(first, value, tmp_path):
    members = {name: content for name, content in sol.files(request()).items() if not name.endswith(".mf")}
    meta = members["TOSCA-Metadata/TOSCA.meta"].decode().splitlines(keepends=True)
    members["TOSCA-Metadata/TOSCA.meta"] = "".join(line for line in meta if "Manifest" not in line).encode()
    name, path = "Definitions/vloop_flavour.yaml", tmp_path / "their.csar"
    data = yaml.safe_load(members[name])
    path.write_bytes(csar.write(members))
    read_whole(path)
    for key in list(paths(data))[8 * first :: 32]:  # each time ETSI's types are parsed too
        path.write_bytes(csar.write({**members, name: json.dumps(changed(data, key, value)).encode()}))
        refused_or_read(path)
