"""Kolla's own images for a box: from where, and what is said where they cannot be copied."""

import json
import shutil
import subprocess
import sys

import pytest
from pydantic import ValidationError

from nfvbed.cloud.box import pulled
from nfvbed.cloud.box.layout import layout_of
from nfvbed.cloud.box.pulled import PulledImages, PulledRecord, is_loopback
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import PrerequisiteError
from nfvbed.spec.site import KollaSiteSpec

SOURCE = "127.0.0.1:5000/openstack.kolla"


def site(**changed):
    """Read the box's file with other values."""
    found = open_project().load_site("box").model_dump(exclude_unset=True, exclude={"ssh"}) | changed
    return KollaSiteSpec.model_validate({name: value for name, value in found.items() if value is not None})


def test_a_site_says_from_where():
    pulls = layout_of(site(images="pull", images_from=SOURCE))
    assert (pulls.pulls, pulls.images_from) == (True, SOURCE)
    assert layout_of(site(images="pull")).images_from is None
    for wrong, field in (
        ({"images": "build", "images_from": SOURCE}, "copied from nowhere"),
        ({"images": "pull", "images_from": "https://quay.io/openstack.kolla"}, "images_from"),
        ({"images": "pull", "images_from": "quay.io"}, "images_from"),
        ({"images": "pull", "images_from": "quay.io/openstack.kolla:2026.1"}, "images_from"),
    ):
        with pytest.raises(ValidationError, match=field):
            site(**wrong)


@pytest.mark.parametrize(
    ("source", "local"),
    [
        ("127.0.0.1:5000/kolla", True),
        ("localhost/kolla", True),
        ("localhost:5000/kolla", True),
        ("quay.io/openstack.kolla", False),
        ("10.0.0.1:5000/kolla", False),
        ("127.0.0.1.example.org/kolla", False),
    ],
)
def test_a_registry_on_loopback_needs_no_tls(source, local):
    assert is_loopback(source) is local


def test_programs_that_are_missing_are_named_with_their_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(PrerequisiteError) as failure:
        PulledImages(tmp_path, SOURCE, lambda _: None).make()
    assert "skopeo" in failure.value.fix and "docker-registry" in failure.value.fix
    assert not (tmp_path / ".nfvbed").exists()


def test_without_kolla_and_without_images_from_nothing_is_guessed(tmp_path):
    with pytest.raises(PrerequisiteError, match="do not say where") as failure:
        PulledImages(tmp_path, None, lambda _: None).make()
    assert "images_from" in failure.value.fix


def test_what_was_copied_is_not_copied_again(tmp_path):
    images = PulledImages(tmp_path, SOURCE, lambda _: None)
    images.storage.mkdir(parents=True)
    tag = pulled.tag()
    record = PulledRecord(source=SOURCE, tag=tag, digests=dict.fromkeys(pulled.names(), "sha256:0"))
    (images.storage / "images.json").write_text(json.dumps(record.model_dump()))
    assert images.make() == images.storage


def test_a_registry_that_does_not_start_is_said_with_its_own_lines(tmp_path):
    log = tmp_path / "log"
    log.write_text("panic: no storage\n")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
        with pytest.raises(PrerequisiteError, match="docker-registry does not answer") as failure:
            pulled.wait_until_it_answers("127.0.0.1:9", ended, log)
    assert failure.value.observed == "panic: no storage"
