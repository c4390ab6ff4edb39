"""VNFs of given descriptors: known by name to the next command, and removed where one fails."""

import dataclasses
import io
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker import waits
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, OnboardError, UnsupportedError, UsageError
from nfvbed.sites.openstack import descriptorvnfs, storeddeployment
from nfvbed.sites.openstack.descriptorvnfs import DescriptorVnfs
from nfvbed.vnfs.descriptors import sol
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorFile, read
from nfvbed.vnfs.descriptors.machines.descriptor import DeploymentInputs
from nfvbed.vnfs.descriptors.machines.projectvnf import ProjectVnf
from nfvbed.vnfs.descriptors.onboardable import Form, RequiredImage
from tests.unit.cloud.tacker.fake_tacker import FakeTacker
from tests.unit.vnfs.descriptors import several
from tests.unit.vnfs.descriptors.test_descriptor_files import IMAGE, NAMES, TEMPLATE

PLACED = PlacedInstance("i-1", "VDU1", "controller", (InstancePort("p-1", "mgmt", "fa:16:3e:00:00:01"),))


class FakeApi:
    """Onboards nothing: says what it was asked for, and fails where that is wanted."""

    def __init__(self, failure=None):
        self.requests = []
        self.failure = failure

    def onboard(self, request, tell):
        """Return a VNF of one instance."""
        self.requests.append(request)
        if self.failure:
            raise self.failure
        return TackerVnf("legacy", "v-1", "d-1", request.name, request.owner, "s-1", (PLACED,), (("create", 5),))


def named(*names):
    return [SimpleNamespace(name=name, id=f"id of {name}") for name in names]


def connection(printed="login:"):
    return SimpleNamespace(
        network=SimpleNamespace(networks=lambda: named("mgmt", "data0", "data1")),
        compute=SimpleNamespace(
            flavors=lambda: named("nfvbed.small"), get_server_console_output=lambda one, length: {"output": printed}
        ),
        image=SimpleNamespace(images=lambda: named("cirros")),
    )


@pytest.fixture(name="removed", autouse=True)
def _removed(monkeypatch):
    """Owners whose VNFs were removed."""
    owners = []
    monkeypatch.setattr(descriptorvnfs.left, "remove", lambda cloud, journal, owner, tell: owners.append(owner))
    monkeypatch.setattr(waits, "limit_s", lambda step: 0.0)
    return owners


@pytest.fixture(name="descriptor")
def _descriptor(tmp_path):
    path = tmp_path / "their.yaml"
    path.write_text(TEMPLATE)
    return DescriptorFile(path, "their", parameters=IMAGE, names=NAMES)


def vnfs(tmp_path, monkeypatch, api, printed="login:"):
    monkeypatch.setattr(descriptorvnfs, "LegacyApi", lambda cloud, journal: api)
    target = SimpleNamespace(folder=tmp_path, connection=connection(printed))
    return DescriptorVnfs(target, Journal(tmp_path / "onboarded.jsonl"))


def test_one_is_onboarded_known_by_its_name_and_removed(tmp_path, monkeypatch, removed, descriptor):
    api = FakeApi()
    place = vnfs(tmp_path, monkeypatch, api)
    found = place.onboard(read(descriptor), str)
    assert (found.name, found.api, found.steps) == ("their", "legacy", (("create", 5),))
    assert (found.instances[0].ports, found.instances[0].printed) == ((("mgmt", "fa:16:3e:00:00:01"),), "login:")
    place.onboard(read(descriptor), str)
    first, second = api.requests
    assert first == second, "the same owner: what is there is found"
    assert storeddeployment.under_way(tmp_path) == ""
    assert place.names() == ("their",)
    place.offboard("their", str)
    assert removed == [first.owner]
    place.onboard(read(descriptor), str)
    assert api.requests[-1].owner != first.owner


def test_what_failed_is_removed_and_not_known(tmp_path, monkeypatch, removed, descriptor):
    api = FakeApi(OnboardError("no valid host"))
    place = vnfs(tmp_path, monkeypatch, api)
    with pytest.raises(OnboardError, match="no valid host"):
        place.onboard(read(descriptor), str)
    assert removed == [api.requests[0].owner]
    assert (place.names(), storeddeployment.under_way(tmp_path)) == ((), "")


def test_what_could_not_be_removed_stays_written_down(tmp_path, monkeypatch, descriptor):
    def fails(cloud, journal, owner, tell):
        raise OnboardError("not all of it")

    monkeypatch.setattr(descriptorvnfs.left, "remove", fails)
    place = vnfs(tmp_path, monkeypatch, FakeApi(OnboardError("no valid host")))
    with pytest.raises(OnboardError, match="no valid host"):
        place.onboard(read(descriptor), str)
    assert storeddeployment.under_way(tmp_path)


def test_names_that_the_cloud_lacks_are_told_before_anything_is_asked(tmp_path, monkeypatch, removed, descriptor):
    api = FakeApi()
    place = vnfs(tmp_path, monkeypatch, api)
    unnamed = DescriptorFile(descriptor.path, "their", parameters=IMAGE)
    with pytest.raises(ConfigurationError, match="2 do not fit") as failure:
        place.onboard(read(unnamed), str)
    assert failure.value.observed.count("--name OLD=NEW") == 2, "each name with its own advice"
    assert "id of" not in failure.value.observed
    assert (api.requests, removed, storeddeployment.under_way(tmp_path)) == ([], [], "")


def test_an_instance_that_prints_nothing_says_so(tmp_path, monkeypatch, descriptor):
    found = vnfs(tmp_path, monkeypatch, FakeApi(), printed="\n \n").onboard(read(descriptor), str)
    assert found.instances[0].printed == ""


def test_a_name_that_nobody_onboarded_is_refused(tmp_path, monkeypatch, descriptor):
    place = vnfs(tmp_path, monkeypatch, FakeApi())
    place.onboard(read(descriptor), str)
    with pytest.raises(UsageError, match="thier") as failure:
        place.offboard("thier", str)
    assert "their" in failure.value.observed


@pytest.fixture(name="core")
def _core(monkeypatch):
    """The mobile core as two guests, as a command gives it, with an image of its own."""
    (declared,) = several.vepc().flavours
    monkeypatch.setattr(descriptorvnfs.images, "keep", lambda connection, journal, vnf, file: f"{vnf}-{journal}-{file}")
    return ProjectVnf(
        name="vepc",
        form=Form.TEMPLATE,
        source="vnf.yml",
        image=RequiredImage("vepc", "file"),
        console=declared.console,
        vnf=several.vepc(),
        flavour=several.TWO,
        given=DeploymentInputs(flavors=several.FLAVORS, image=several.IMAGE, soft=True),
        values={"flavor_core": "nfvbed.small", "flavor_edge": "id of nfvbed.small"},
    )


TCP = "vepc: tcp carried: 131072 of 131072 bytes and back in 2.1 s"
SAID = f"vepc: functions up: store hss\nvepc: attached: UE\nvepc: ping carried: 10 of 10\n{TCP}\n\n"


def of_core(tmp_path, monkeypatch, api, printed=SAID):
    place = vnfs(tmp_path, monkeypatch, api, printed)
    place.target.ours = True
    return place


def test_a_core_is_ready_by_its_consoles_and_has_a_secret_of_its_own(tmp_path, monkeypatch, core):
    api = FakeApi()
    place = of_core(tmp_path, monkeypatch, api)
    found = place.onboard(core, str)
    assert [name for name, _ in found.steps] == ["image", "create", "functions", "attach", "ping", "tcp"]
    assert found.said[-1] == TCP
    assert found.instances[0].printed == TCP, "the last line that is not empty"
    place.onboard(core, str)
    place.offboard("vepc", str)
    place.onboard(core, str)
    first, again, other = (request.descriptor["topology_template"]["node_templates"] for request in api.requests)
    assert first == again, "the same deployment"
    assert first["core"]["properties"]["image"] == "vepc"
    seeds = [
        nodes[name]["properties"]["user_data"].rpartition("vnf.seed=")[2]
        for nodes in (first, other)
        for name in ("core", "edge")
    ]
    assert [len(seed) for seed in seeds] == [32] * 4
    assert seeds[0] == seeds[1] != seeds[2] == seeds[3]
    assert seeds[0] not in repr(core) + repr(found)
    assert (tmp_path / "given.secret").stat().st_mode & 0o077 == 0


def test_a_package_of_a_core_has_a_secret_of_its_deployment(tmp_path, monkeypatch, core):
    api = FakeApi()
    place = of_core(tmp_path, monkeypatch, api)
    monkeypatch.setattr(descriptorvnfs, "SolApi", lambda cloud, journal: api)
    made = replace(core, form=Form.PACKAGE, values={"a": "b"})
    assert place.onboard(made, str).said[-1] == TCP
    place.onboard(made, str)
    first, again = api.requests
    assert first == again, "the same deployment"
    assert (first.flavour, first.parameters) == (several.TWO, {**sol.SCRIPT, "a": "b"})
    with zipfile.ZipFile(io.BytesIO(first.descriptor)) as sent:
        words = sent.read(f"BaseHOT/{several.TWO}/vepc.yaml").decode().split()
    seeds = [word.partition("=")[2] for word in words if word.startswith("vnf.seed=")]
    assert [len(seed) for seed in seeds] == [32, 32]
    assert seeds[0] == seeds[1]


def test_what_a_core_names_and_the_cloud_lacks_is_told_with_its_machine(tmp_path, monkeypatch, core, removed):
    api = FakeApi()
    place = of_core(tmp_path, monkeypatch, api)
    wrong = replace(core, values={"flavor_core": "nfvbed.smal", "flavor_edge": "nfvbed.small"})
    with pytest.raises(ConfigurationError, match="unknown flavor: 'nfvbed.smal'") as failure:
        place.onboard(wrong, str)
    assert failure.value.where == "vnf.yml machine core"
    assert "nfvbed.small" in failure.value.fix
    assert (api.requests, removed) == ([], [])


def test_a_core_that_says_that_it_failed_is_removed(tmp_path, monkeypatch, core, removed):
    api = FakeApi()
    place = of_core(tmp_path, monkeypatch, api, "vepc: functions up: store\nvepc: failed: no MME\n")
    with pytest.raises(OnboardError, match="vepc is not ready") as failure:
        place.onboard(core, str)
    assert "vepc: failed: no MME" in failure.value.observed
    assert removed == [api.requests[0].owner]
    assert place.names() == ()


@pytest.mark.parametrize(
    ("lacks", "wrong"), [((), []), (("sol",), []), (("legacy",), ["form"])], ids=["both", "legacy", "sol"]
)
def test_a_template_does_not_fit_a_tacker_without_the_legacy_api(tmp_path, monkeypatch, descriptor, lacks, wrong):
    monkeypatch.setattr(descriptorvnfs, "tacker_client", lambda cloud: FakeTacker(lacks))
    cloud, variant = connection(), open_project().load_variant("ovs-dpdk")
    cloud.compute.fetch_flavor_extra_specs = lambda one: SimpleNamespace(extra_specs={})
    target = SimpleNamespace(
        folder=tmp_path,
        connection=cloud,
        runs=lambda: True,
        contents=None,
        flavor_specs={},
        no_made_networks=lambda _: "",
    )
    found = DescriptorVnfs(target, Journal(tmp_path / "onboarded.jsonl")).fit(variant, read(descriptor))
    assert [one.subject for one in found.mismatches if one.subject == "form"] == wrong
    if wrong:
        assert isinstance(found.mismatches[0].error, UnsupportedError)
        assert "Tacker 10.0.0" in found.mismatches[0].found


@pytest.mark.parametrize(("why", "made"), [("no VLANs there", True), ("no VLANs there", False), ("", True)])
def test_networks_that_come_with_a_vnf_do_not_fit_a_compute_that_has_none_of_them(tmp_path, descriptor, why, made):
    answers = {"runs": lambda: False, "contents": None, "flavor_specs": {}, "no_made_networks": lambda _: why}
    place = DescriptorVnfs(SimpleNamespace(folder=tmp_path, **answers), Journal(tmp_path / "onboarded.jsonl"))
    theirs, variant = read(descriptor), open_project().load_variant("linux-bridge")
    flavour = theirs.deployed()
    links = tuple(dataclasses.replace(link, made=made) for link in flavour.links)

    class Theirs(type(theirs)):
        def deployed(self):
            return dataclasses.replace(flavour, links=links)

    found = place.fit(variant, Theirs(**vars(theirs))).mismatches
    refused = [one for one in found if one.subject == "networks"]
    assert bool(refused) == bool(why and made)
    assert all(why in one.found and isinstance(one.error, UnsupportedError) for one in refused)
