"""The script that Tacker executes to fill in the base HOT: with objects as Tacker hands them over."""

import importlib.util
from types import SimpleNamespace

import pytest
import yaml

from nfvbed.vnfs.descriptors import sol
from nfvbed.vnfs.descriptors.typefiles import USER_DATA
from tests.unit.vnfs.descriptors import several
from tests.unit.vnfs.descriptors.requests import request


@pytest.fixture(name="script")
def _script():
    spec = importlib.util.spec_from_file_location("lcm_user_data", USER_DATA)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.UserData


def flavour():
    return yaml.safe_load(sol.files(request())["Definitions/vloop_flavour.yaml"])


def link(network, *points):
    return SimpleNamespace(resource_id=network, ext_cps=[SimpleNamespace(cpd_id=name) for name in points])


def test_parameters_are_all_that_the_base_hot_asks(script):
    asked = SimpleNamespace(ext_virtual_links=[link("id-0", "in"), link("id-1", "out")])
    assert script.instantiate({}, flavour(), asked, {}) == {
        "nfv": {
            "VDU": {"VDU1": {"computeFlavourId": "nfvbed.hugepages", "vcImageId": "vloop", "desired_capacity": 1}},
            "CP": {"in": {"network": "id-0"}, "out": {"network": "id-1"}},
        }
    }


def test_image_that_tacker_has_uploaded_goes_before_the_name(script):
    made = [SimpleNamespace(resource_type="image", resource_identifier="id-of-image")]
    asked = SimpleNamespace(ext_virtual_links=None)
    found = script.instantiate({}, flavour(), asked, {"VDU1": made})
    assert found["nfv"]["VDU"]["VDU1"]["vcImageId"] == "id-of-image"


def test_parameters_of_several_machines_are_all_that_the_base_hot_asks(script):
    files = sol.files(several.request(several.TWO, soft=True))
    definitions = yaml.safe_load(files["Definitions/vepc_flavour.yaml"])
    links = [link("id-0", "core_s1-u", "edge_s1-u"), link("id-1", "core_sgi", "edge_sgi")]
    found = script.instantiate({}, definitions, SimpleNamespace(ext_virtual_links=links), {})["nfv"]
    machine = {"computeFlavourId": "nfvbed.hugepages", "vcImageId": "vepc", "desired_capacity": 1}
    assert found["VDU"] == {"core": machine, "edge": machine}
    hot = yaml.safe_load(files["BaseHOT/two-guests/vepc.yaml"])["resources"].values()
    networks = [one["properties"]["network"] for one in hot if one["type"] == "OS::Neutron::Port"]
    asked = {one["get_param"][2] for one in networks if "get_param" in one}
    assert asked == set(found["CP"])
    assert found["CP"]["edge_sgi"] == {"network": "id-1"}
