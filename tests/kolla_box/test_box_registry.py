"""The images of a box as a registry serves them; both the images and the registry's program are built where needed."""

import json
import subprocess
from pathlib import Path

import pytest

from nfvbed.cloud.box import images
from nfvbed.cloud.box.places import RootPlaces
from nfvbed.cloud.box.root import MachineRoot
from nfvbed.cloud.devcloud.root.lists import read_packages
from nfvbed.sharedcache import SharedCache
from nfvbed.sites.kolla import boximages
from tests.kolla_box.boxrack import CHECKOUT, DEPLOYED_S

NAMES = read_packages(boximages.FOLDER / "images.txt")
pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(DEPLOYED_S)]


def test_a_registry_serves_every_image() -> None:
    """Debian's docker-registry, of the machines' root, in a network namespace of its own."""
    storage = images.storage(CHECKOUT, print)
    root = MachineRoot(RootPlaces.of(CHECKOUT), SharedCache.from_environment(print))
    root.build()
    served = subprocess.run(
        ["unshare", "--net", "/usr/bin/python3", Path(__file__).with_name("registry_client.py"), root.path, storage],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    answers = json.loads(served.stdout)
    assert set(answers) == {f"kolla/{name}" for name in NAMES}
    record = json.loads((storage / "images.json").read_text())
    for repository, found in answers.items():
        assert found["manifest"]["layers"][0]["digest"] == record["layer"], repository
        assert found["manifest"]["annotations"]["nfvbed.images"] == "ours"
        assert found["config"]["config"]["Labels"]["nfvbed.images"] == "ours"
        assert found["small_is_whole"] and found["shared_bytes"] == record["layer_bytes"]
