"""The doctor says of guests' images what a start of a guest would find."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.probes import images
from nfvbed.records import Readiness, Support
from nfvbed.records.findings import State

VNF = """\
name: {name}
title: x
kinds: [vm]
ports: [{{name: in, role: in}}, {{name: out, role: out}}]
forwarding: [io]
image: {{file: images/{name}.qcow2{more}}}
"""
VARIANT = """\
name: guests
title: x
topologies: [pvp]
native_vnf: {native}
options: {dataplane: linux-bridge}
"""


@pytest.fixture(name="project")
def _project(tmp_path):
    """A project whose VNFs `own` and `other` have images; that of `own` is there."""
    for folder in ("deploy/variants", "deploy/sites", "flavors", "images", "vnfd/own", "vnfd/other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "flavors/default.yml").write_text("name: default\ntitle: x\n")
    for name, more in (("own", ""), ("other", ", agent: false")):
        (tmp_path / f"vnfd/{name}/vnf.yml").write_text(VNF.format(name=name, more=more))
    (tmp_path / "images/own.qcow2").write_bytes(b"QFI\xfb")
    return open_project(tmp_path)


def variant(project, native):
    (project.variants_folder / "guests.yml").write_text(VARIANT.replace("{native}", native))
    return project.load_variant("guests")


def test_each_image_that_is_not_there_is_named_with_its_remedy(project):
    found = images.probe_images(project)
    assert found.state is State.LIMITED
    assert str(project.root / "images/other.qcow2") in found.summary
    assert "own:" not in found.summary
    assert found.fix == "put the file there, or name another one"


def test_all_are_there_or_none_is(project):
    (project.root / "images/other.qcow2").write_bytes(b"raw")
    assert images.probe_images(project).state is State.PRESENT
    for image in project.root.glob("images/*.qcow2"):
        image.unlink()
    found = images.probe_images(project)
    assert (found.state, found.fix) == (State.ABSENT, "put the file there, or name another one; make images")


def test_a_changed_image_is_reported(project):
    sidecar = (
        '{"version": "1", "cmdline": "", "files": {"qcow2": {"name": "own.qcow2", "sha256": "0", "size_bytes": 4}}}'
    )
    (project.root / "images/own.json").write_text(sidecar)
    assert "own: the VNF's image was changed" in images.probe_images(project).summary


def test_a_variant_whose_own_guest_lacks_its_image_is_degraded(project):
    ready = Support(variant="guests", readiness=Readiness.READY)
    there = variant(project, "{vnf: own, kind: vm}")
    assert images.with_own_image(ready, there, project) == ready
    lacking = variant(project, "{vnf: own, kind: vm, image: {file: images/none.qcow2}}")
    found = images.with_own_image(ready, lacking, project)
    assert (found.readiness, found.fix) == (Readiness.DEGRADED, "make images")
    assert found.reason.startswith("its own VNF cannot be started: the VNF's image is not there")
    emulated = ready.model_copy(update={"readiness": Readiness.DEGRADED, "reason": "emulated"})
    assert images.with_own_image(emulated, lacking, project).reason.startswith("emulated; its own VNF")


def test_a_variant_that_cannot_be_had_keeps_its_reason(project):
    lacking = variant(project, "{vnf: other, kind: vm}")
    none = Support(variant="guests", readiness=Readiness.UNSUPPORTED, reason="no bridge")
    assert images.with_own_image(none, lacking, project) == none
