"""VNFs, flavors and how experiments use them: names, defaults, and every mistake reported with its place."""

import shutil
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, InternalError
from nfvbed.records import VnfKind
from nfvbed.spec.choices import explicit_label
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study
from nfvbed.spec.vnf import VnfUse
from tests.refusals import misconfigured

ROOT = Path(__file__).parents[3]

EXPERIMENT = """\
name: trial
title: A trial
variants: [linux-bridge, ovs-dpdk]
topologies: [p2p, pvp]
vnfs:
  - {forwarding: native}
  - {kind: process, forwarding: io}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for folder in ("deploy", "vnfd", "flavors"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "vsperf-conf" / "experiments").mkdir(parents=True)
    return open_project(tmp_path)


def load(project: Project, text: str) -> Study:
    (project.experiments_folder / "trial.yml").write_text(text)
    return project.load_study("trial")


def refused(project: Project, text: str) -> ConfigurationError:
    return misconfigured(lambda: load(project, text))


def test_every_vnf_and_flavor_of_the_project_is_valid() -> None:
    project = open_project(ROOT)
    assert {project.load_vnf(name).name for name in project.vnf_names} == set(project.vnf_names)
    assert {project.load_flavor(name).name for name in project.flavor_names} == set(project.flavor_names)
    assert "vloop" in project.vnf_names


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("vloop", "flavor: default", "flavor: default\nmonitoring: {delay_s: 60}", "port of role management"),
        ("vpair", "name: vpair", "name: vpair\nmonitoring: {}", "VNF of one machine"),
        ("vloop-monitored", "timeout_s: 2", "timeout_s: 2.5", "give a whole number"),
    ],
)
def test_monitoring_that_tacker_cannot_do_is_refused(
    project: Project, name: str, old: str, new: str, said: str
) -> None:
    file = project.root / "vnfd" / name / "vnf.yml"
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    assert said in str(misconfigured(lambda: project.load_vnf(name)))


def test_native_is_what_the_variant_says(project: Project) -> None:
    study = load(project, EXPERIMENT)
    bridge, ovs = (study.choice(name, "native") for name in ("linux-bridge", "ovs-dpdk"))
    assert bridge is not None and ovs is not None
    assert (bridge.forwarding, ovs.forwarding) == ("bridge", "io")
    assert (explicit_label(bridge), explicit_label(ovs)) == ("process-bridge", "process-io")
    assert bridge.native and bridge.label == "native"


def test_an_explicit_vnf_is_the_same_on_all_variants(project: Project) -> None:
    study = load(project, EXPERIMENT)
    assert study.choice("linux-bridge", "process-io") == study.choice("ovs-dpdk", "process-io")
    assert study.choice("ovs-dpdk", "") is None
    with pytest.raises(InternalError):
        study.choice("ovs-dpdk", "vm-io")


def test_without_vnfs_each_variant_has_its_own(project: Project) -> None:
    study = load(project, EXPERIMENT[: EXPERIMENT.index("vnfs:")])
    assert [use.label for use in study.experiment.uses] == ["native"]


def test_without_topologies_that_have_vnfs_none_is_used(project: Project) -> None:
    assert load(project, EXPERIMENT.replace(", pvp]", "]")).choices == {}


def test_a_label_says_what_runs_also_where_the_file_does_not(project: Project) -> None:
    text = EXPERIMENT.replace("{kind: process, forwarding: io}", "{kind: vm, flavor: hugepages}")
    study = load(project, text)
    assert [use.label for use in study.experiment.uses] == ["native", "vm-io-hugepages"]
    choice = study.choice("ovs-dpdk", "vm-io-hugepages")
    assert choice is not None and choice.image is not None and choice.flavor.hugepages


def test_a_users_own_image_is_one_line(project: Project) -> None:
    use = "{kind: vm, image: {file: /images/My_EPC.qcow2, agent: false}}"
    study = load(project, EXPERIMENT.replace("{kind: process, forwarding: io}", use))
    assert [use.label for use in study.experiment.uses] == ["native", "vm-image-my-epc"]


def test_a_users_own_image_is_one_line_of_the_vnf(project: Project) -> None:
    path = project.vnfs_folder / "vloop" / "vnf.yml"
    text = path.read_text()
    start, end = text.index("image:\n"), text.index("readiness:")
    path.write_text(f"{text[:start]}image: {{file: /images/my.qcow2, agent: false}}\n{text[end:]}")
    study = load(project, EXPERIMENT.replace("{kind: process, forwarding: io}", "{kind: vm}"))
    choice = study.choice("ovs-dpdk", "vm-image")
    assert choice is not None and choice.image is not None
    assert (choice.forwarding, choice.image.file) == ("image", "/images/my.qcow2")


def test_an_image_with_the_agent_can_be_left_to_itself(project: Project) -> None:
    study = load(project, EXPERIMENT.replace("{kind: process, forwarding: io}", "{kind: vm, forwarding: image}"))
    assert [use.label for use in study.experiment.uses] == ["native", "vm-image"]


def test_a_process_has_no_image(project: Project) -> None:
    choice = load(project, EXPERIMENT).choice("ovs-dpdk", "process-io")
    assert choice is not None and choice.image is None


@pytest.mark.parametrize(("kind", "label"), [("process", "process-io"), ("vm", "vm-io")])
def test_vnfs_as_endpoints_make_p2p_what_v2v_is(project: Project, kind: str, label: str) -> None:
    text = EXPERIMENT[: EXPERIMENT.index("topologies:")] + f"topologies: [p2p]\nendpoints: {kind}\n"
    study = load(project, text)
    assert study.experiment.laid_out == ("v2v",)
    assert set(study.choices) == {(variant, label) for variant in ("linux-bridge", "ovs-dpdk")}


def test_a_study_survives_its_own_json(project: Project) -> None:
    study = load(project, EXPERIMENT)
    assert Experiment.model_validate(study.experiment.model_dump(mode="json")) == study.experiment


def test_pcp_takes_containers_only() -> None:
    uses = (VnfUse(forwarding="io"), VnfUse(kind=VnfKind.CONTAINER, forwarding="bridge"))
    experiment = Experiment(name="e", title="e", variants=("a",), topologies=("pvp", "pcp"), vnfs=uses)
    assert [use.label for use in experiment.uses_in("pcp")] == ["container-bridge"]
    assert len(experiment.uses_in("pvp")) == 2


CASES = [
    ("forwarding: io", "forwrding: io", "trial.yml:7 vnfs[1].forwrding", "'forwrding'", "did you mean 'forwarding'?"),
    ("forwarding: io", "forwarding: oi", "trial.yml:7 vnfs[1].forwarding", '"oi"', "'io'"),
    ("forwarding: io", "forwarding: image", "trial.yml:7 vnfs[1].forwarding", "'image'", "macswap"),
    (
        "kind: process, forwarding: io",
        "kind: vm, forwarding: io, image: {file: x, agent: false}",
        "trial.yml:7 vnfs[1].forwarding",
        "'io'",
        "one of: image",
    ),
    ("kind: process,", "kind: proces,", "trial.yml:7 vnfs[1].kind", '"proces"', "'process'"),
    ("kind: process,", "kind: existing,", "trial.yml:7 vnfs[1].kind", "'existing'", "container, process, vm"),
    ("kind: process,", "vnf: vlop,", "trial.yml:7 vnfs[1].vnf", "'vlop'", "did you mean 'vloop'?"),
    ("kind: process,", "flavor: hugepage,", "trial.yml:7 vnfs[1].flavor", "'hugepage'", "did you mean 'hugepages'?"),
    ("kind: process,", "image: {file: x},", "trial.yml:7 vnfs[1].image", "kind: process", "kind: vm"),
    ("kind: process,", "kind: vm, image: {},", "trial.yml:7 vnfs[1].image.file", "no such key", "add `file: ...`"),
    ("{kind: process, forwarding: io}", "{forwarding: native}", "trial.yml:1", "vnfs names something twice", "change"),
    ("{forwarding: native}", "{forwarding: native, kind: vm}", "trial.yml:1", "leave out kind", "change"),
    ("pvp]", "pv11p]", "trial.yml:4 topologies[1]", '"pv11p"', "pv1p to pv10p"),
    ("pvp]", "pcp]", "trial.yml:1", "pcp is pvp with a container", "change"),
    ("pvp]", "pvp]\nendpoints: vm", "trial.yml:1", "endpoints: vm is for topologies: [p2p]", "change"),
    ("[p2p, pvp]", "[p2p]\nendpoints: vm", "trial.yml:1", "does not fit the vnfs", "change"),
]


@pytest.mark.parametrize(("old", "new", "where", "observed", "fix"), CASES)
def test_a_wrong_use(project: Project, old: str, new: str, where: str, observed: str, fix: str) -> None:
    assert old in EXPERIMENT
    error = refused(project, EXPERIMENT.replace(old, new))
    assert error.where == f"{project.experiments_folder}/{where}"
    assert observed in error.observed
    assert fix in error.fix


def test_a_wrong_native_vnf_is_reported_at_the_variants_key(project: Project) -> None:
    path = project.variants_folder / "ovs-dpdk.yml"
    path.write_text(path.read_text().replace("forwarding: io", "forwarding: image"))
    error = refused(project, EXPERIMENT)
    assert error.where == f"{path}:5 native_vnf.forwarding"
    assert "'image'" in error.observed


def test_native_where_no_variant_has_one(project: Project) -> None:
    for path in project.variants_folder.glob("*.yml"):
        lines = path.read_text().splitlines()
        path.write_text("\n".join(line for line in lines if not line.startswith("native_vnf")))
    error = refused(project, EXPERIMENT)
    assert error.where == f"{project.experiments_folder}/trial.yml:5 vnfs"
    assert "has a native VNF" in error.what


VNF_CASES = [
    ("kinds: [process, vm, container]\n", "", "vnf.yml:1 kinds", "no such key", "add `kinds: ...`"),
    ("burst: 32", "burts: 32", "vnf.yml:10 burts", "'burts'", "did you mean 'burst'?"),
    ("burst: 32", "burst: 0", "vnf.yml:10 burst", "0", "at least 1 and at most 512"),
    ("name: vloop", "name: other", "vnf.yml:1 name", "'other'", "name: vloop"),
    ("flavor: default", "flavor: defualt", "vnf.yml:12 flavor", "'defualt'", "did you mean 'default'?"),
    ("role: in,", "role: out,", "vnf.yml:1", "one of role in and one of role out", "change"),
]


@pytest.mark.parametrize(("old", "new", "where", "observed", "fix"), VNF_CASES)
def test_a_wrong_vnf_file(project: Project, old: str, new: str, where: str, observed: str, fix: str) -> None:
    path = project.vnfs_folder / "vloop" / "vnf.yml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ConfigurationError) as caught:
        project.load_vnf("vloop")
    assert caught.value.where == f"{path.parent}/{where}"
    assert observed in caught.value.observed
    assert fix in caught.value.fix


FLAVOR_CASES = [
    ("vcpus: 2", "vcpu: 2", "pinned.yml:4 vcpu", "'vcpu'", "did you mean 'vcpus'?"),
    ("vcpus: 2", "queues: 3", "pinned.yml:1", "queues (3) must be at most vcpus (2)", "change"),
    ("cpu_policy: dedicated", "cpu_policy: shared", "pinned.yml:1", "thread_policy needs cpu_policy", "change"),
    ("title: Pinned\n", "", "pinned.yml:1 title", "no such key", "add `title: ...`"),
]


@pytest.mark.parametrize(("old", "new", "where", "observed", "fix"), FLAVOR_CASES)
def test_a_wrong_flavor(project: Project, old: str, new: str, where: str, observed: str, fix: str) -> None:
    path = project.flavors_folder / "pinned.yml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ConfigurationError) as caught:
        project.load_flavor("pinned")
    assert caught.value.where == f"{path.parent}/{where}"
    assert observed in caught.value.observed
    assert fix in caught.value.fix


@pytest.mark.parametrize("kind", ["vnf", "flavor"])
def test_an_unknown_name_of_a_vnf_or_flavor(project: Project, kind: str) -> None:
    with pytest.raises(ConfigurationError, match="'nobody'"):
        {"vnf": project.load_vnf, "flavor": project.load_flavor}[kind]("nobody")
