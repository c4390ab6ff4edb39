"""The whole cloud's controller restarts."""

import pytest

from tests.kolla_box.boxrack import DEPLOYED_S, waited

RESTARTED_S = 600.0
pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2 * DEPLOYED_S)]


def test_a_controller_that_restarts_comes_back_with_its_cloud(deployed_box):
    before = deployed_box.containers("controller")
    starts = next(one["starts"] for one in deployed_box.look()["machines"] if one["name"] == "controller")
    deployed_box.on("controller", "systemctl", "reboot")

    def is_back():
        found = deployed_box.look()
        controller = next(one for one in found["machines"] if one["name"] == "controller")
        return controller["starts"] > starts and controller["systemd"] == "running" and not found["problems"]

    waited("the controller has started", is_back, RESTARTED_S)

    def is_well():
        found = deployed_box.containers("controller")
        running = {name: status for name, status in before.items() if status.startswith("Up ")}
        return all(
            found.get(name, "").startswith("Up ") and ("(healthy)" in found[name] or "(healthy)" not in status)
            for name, status in running.items()
        )

    waited("its containers are healthy", is_well, RESTARTED_S)
    waited("its cloud is as it was deployed", deployed_box.is_verified, RESTARTED_S)
    assert "was deployed already" in deployed_box.goes_on(*deployed_box.deploy)
