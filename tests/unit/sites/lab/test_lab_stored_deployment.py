"""A deployment of the lab that another nfvbed has written down, or is taking down."""

import json

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.records import Deployment
from nfvbed.sites.lab import storeddeployment

VARIANT = open_project().load_variant("linux-bridge")
ARRANGEMENT = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,))


@pytest.fixture(name="written")
def _written(tmp_path, monkeypatch):
    class Double:
        directory = tmp_path

    deployment = Deployment(id="a", variant="linux-bridge", site="lab", topology="p2p", ports=())
    double = Double()
    storeddeployment.StoredDeployment(double, deployment, VARIANT, ARRANGEMENT).save()
    monkeypatch.setattr(storeddeployment, "workspaces", lambda: [double])
    monkeypatch.setattr(storeddeployment, "is_deployed", lambda _: True)
    return tmp_path


def test_it_is_read_as_it_was_written(written):
    assert written
    assert storeddeployment.find_remembered().variant == VARIANT


def test_what_another_version_wrote_is_reported_with_its_place(written):
    path = written / "deployment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "of_a_later_version": 1}))
    with pytest.raises(DeployError) as caught:
        storeddeployment.find_remembered()
    assert caught.value.where == str(written) and "of_a_later_version" in caught.value.observed


def test_what_is_being_taken_down_is_no_traceback(written):
    (written / "variant.json").unlink()
    with pytest.raises(DeployError, match="cannot be read"):
        storeddeployment.find_remembered()
