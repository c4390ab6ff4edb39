"""The whole cloud is taken down, and a user interrupts that; nothing of it is left on the machines."""

import pytest

from tests.kolla_box.boxrack import DEPLOYED_S, INTERRUPTED, MACHINES

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2 * DEPLOYED_S)]


def test_a_destroy_that_is_interrupted_goes_on(deployed_box):
    with deployed_box.begun(
        *deployed_box.destroy,
        stage="destroy",
        until="TASK [destroy : Destroying all Kolla containers",
        status=INTERRUPTED,
    ) as story:
        story.interrupt()
    assert "destroy on site box-twins was interrupted" in story.said and "the same command continues" in story.said
    assert "half taken down" in deployed_box.refused(*deployed_box.deploy)
    assert "is taken down" in deployed_box.goes_on(*deployed_box.destroy)
    for machine in MACHINES:
        assert deployed_box.containers(machine) == {}
        assert deployed_box.on(machine, "docker", "volume", "ls", "--quiet").split() == []
    assert "nothing is deployed on site box-twins" in deployed_box.nfvbed(*deployed_box.destroy)
