"""VNFs that run already are found and left as they are; what is ours on another's cloud is removed."""

from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.cloud.tacker.connection import identity
from nfvbed.cloud.tacker.journal import Journal, Note
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.records import Accelerator, Deployment, PortKind, RenewedPart
from nfvbed.sites.openstack import storeddeployment, vnfs
from nfvbed.sites.openstack.existing.vnfs import ExistingVnfs
from nfvbed.sites.openstack.setting_up import CloudSetup
from nfvbed.sites.openstack.site import open_existing
from nfvbed.sites.openstack.tackervnfs import TackerVnfs
from nfvbed.spec.choices import resolve
from nfvbed.spec.existing import ExistingPathSpec
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import VnfUse
from tests.unit.sites.openstack.test_existing_survey import FakeCloud, existing, spec

PROJECT = open_project()
VARIANT = PROJECT.load_variant("existing")
THERE = resolve(VARIANT.native_vnf, VARIANT, PROJECT)
VM = resolve(VnfUse(kind="vm", forwarding="io"), VARIANT, PROJECT)


def provider(tmp_path, topology="pvp"):
    return ExistingVnfs("c", ExistingPathSpec(topology=topology), existing(FakeCloud(), tmp_path))


def test_there_is_the_one_path_that_the_file_describes(tmp_path):
    provider(tmp_path).check(layout("pvp"), THERE)
    with pytest.raises(UnsupportedError, match="its file describes pvvp|no path on site c") as refused:
        provider(tmp_path, "pvvp").check(layout("pvp"), THERE)
    assert "topology pvvp" in refused.value.fix
    with pytest.raises(UnsupportedError, match="no path"):
        provider(tmp_path).check(layout("p2p"), None)
    with pytest.raises(UnsupportedError, match="kind vm does not run on site c") as refused:
        provider(tmp_path).prepare(VM)
    assert refused.value.of_vnf and "kind: existing" in refused.value.fix


def test_they_are_nobodys_to_heal_or_offboard(tmp_path):
    assert provider(tmp_path).renews is RenewedPart.NOTHING
    with pytest.raises(UnsupportedError, match="not nfvbed's to heal"):
        provider(tmp_path).heal("abcd", THERE, 0, None)
    with pytest.raises(UnsupportedError, match="not nfvbed's to offboard"):
        provider(tmp_path).check_removal()
    assert provider(tmp_path).remove("abcd") is None


def handle():
    ports = (InstancePort("a-n0", "left", "fa:16:3e:00:00:00"), InstancePort("a-n1", "right", "fa:16:3e:00:00:01"))
    placed = PlacedInstance("a", "vm-a", "", ports)
    vnf = TackerVnf("none", "", "", "vm-a", "abcd", "", (placed,))
    return vnfs.handle(0, vnf, THERE, PortKind.NEUTRON, Accelerator.NONE)


def test_how_ports_were_bound_is_stored_where_it_is_shown(tmp_path):
    cloud = FakeCloud()
    target = existing(cloud, tmp_path)
    (hidden,) = target.witnessed((handle(),))
    assert all("takes the role admin" in one for one in hidden.facts["vif_types"])
    for port in cloud.listed:
        port.binding_vif_type = "ovs"
    (shown,) = target.witnessed((handle(),))
    assert shown.facts["vif_types"] == ["ovs", "ovs"]
    rig = target.described((shown,))
    assert (rig["cloud"], rig["networks"], rig["vif_types"]) == ("mine", ["left", "right"], [["ovs", "ovs"]])
    assert provider(tmp_path).described(THERE)["accelerator"] is None, "nobody says what it is"


class Recorder:
    """A double of a provider: notes whose things are removed."""

    def __init__(self):
        self.removed = []

    def remove(self, owner):
        self.removed.append(owner)

    def release(self):
        return ()


def test_what_was_deployed_and_what_was_under_way_is_removed_and_the_cloud_stays(tmp_path):
    target, recorder = existing(FakeCloud(), tmp_path), Recorder()
    setting_up = CloudSetup("c", None, target, recorder)
    assert setting_up.clear(everything=False) == ()
    deployment = Deployment(id="abcd", variant="existing", site="c", topology="pvp", ports=(), vnfs=(handle(),))
    arrangement = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,))
    storeddeployment.save(
        target.folder, storeddeployment.StoredDeployment(deployment, VARIANT, arrangement, THERE, "now")
    )
    storeddeployment.note(target.folder, "ef01")
    assert "the cloud would stay" in setting_up.foresee_clear()[0]
    assert [line.split("(")[1][:4] for line in setting_up.clear(everything=False)] == ["abcd", "ef01"]
    assert recorder.removed == ["abcd", "ef01"]
    assert storeddeployment.find(target.folder) is None and storeddeployment.under_way(target.folder) == ""


def test_what_cannot_be_read_is_forgotten_on_demand(tmp_path):
    target = existing(FakeCloud(), tmp_path)
    setting_up = CloudSetup("c", None, target, Recorder())
    target.folder.mkdir(parents=True)
    (target.folder / "deployed.json").write_text("{}")
    with pytest.raises(DeployError, match="cannot be read"):
        setting_up.clear(everything=False)
    assert setting_up.clear(everything=True) == ()
    assert storeddeployment.find(target.folder) is None


def test_the_site_of_a_file_has_the_provider_that_it_asks_for(tmp_path):
    assert open_existing(spec(), tmp_path).renews is RenewedPart.NOTHING
    assert open_existing(spec(onboarding="sol", existing=None), tmp_path).renews is RenewedPart.VNF


def test_images_that_nfvbed_has_uploaded_go_with_it_and_no_others(tmp_path):
    cloud = FakeCloud()
    cloud.current_project_id = "p"
    kept = {"nfvbed-vloop-1": "i-1", "theirs": "i-2"}
    cloud.image = SimpleNamespace(
        find_image=lambda name: SimpleNamespace(id=name) if name in kept else None,
        delete_image=lambda name: kept.pop(name),
    )
    target = existing(cloud, tmp_path, onboarding="sol", existing=None)
    onboarding = TackerVnfs("c", "sol", target, tmp_path)
    assert onboarding.release() == (), "nothing was onboarded: nobody is asked"
    for name in ("nfvbed-vloop-1", "nfvbed-vloop-2"):
        Journal(target.folder / "onboarded.jsonl").write(Note("image", name, "kept", "vloop", identity(cloud)))
    assert onboarding.release() == ("image nfvbed-vloop-1 is removed", "image nfvbed-vloop-2 is removed")
    assert kept == {"theirs": "i-2"}
    assert onboarding.release() == ()
