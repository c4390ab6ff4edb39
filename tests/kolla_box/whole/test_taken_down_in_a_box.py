"""The whole cloud is taken down, and a user interrupts that; nothing of it is left on the machines."""

import pytest

from tests.kolla_box.boxrack import DEPLOY, DEPLOYED_S, INTERRUPTED, MACHINES
from tests.kolla_box.test_keystone_in_a_box import DESTROY

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2 * DEPLOYED_S)]


def test_a_destroy_that_is_interrupted_goes_on(deployed_box):
    with deployed_box.begun(
        *DESTROY, stage="destroy", until="TASK [destroy : Destroying all Kolla containers", status=INTERRUPTED
    ) as story:
        story.interrupt()
    assert "destroy on site box was interrupted" in story.said and "the same command continues" in story.said
    assert "half taken down" in deployed_box.refused(*DEPLOY)
    assert "is taken down" in deployed_box.goes_on(*DESTROY)
    for machine in MACHINES:
        assert deployed_box.containers(machine) == {}
        assert deployed_box.on(machine, "docker", "volume", "ls", "--quiet").split() == []
    assert "nothing is deployed on site box" in deployed_box.nfvbed(*DESTROY)
