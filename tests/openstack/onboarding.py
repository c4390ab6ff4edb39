"""Requests that tests onboard, and services that they kill in the middle of it."""

import copy
import hashlib
import io
import os
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import yaml

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.tacker.api import OnboardRequest
from nfvbed.errors import NfvbedError
from tests.openstack.cloud_driver import CIRROS, ROOT, package, wait

USER_DATA = {
    "lcm-operation-user-data": "./UserData/lcm_user_data.py",
    "lcm-operation-user-data-class": "CirrosUserData",
}
SCALING = {
    "SP1": {
        "type": "tosca.policies.tacker.Scaling",
        "properties": {
            "targets": ["VDU1"],
            "increment": 1,
            "cooldown": 1,
            "min_instances": 1,
            "max_instances": 2,
            "default_instances": 1,
        },
    }
}
NETWORKS = (("CP1", "mgmt"),)


def owner() -> str:
    """Return whose all is that this test onboards: its own, so that what it leaves is in no other test's way."""
    test, _, _ = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")
    return f"test-{hashlib.sha256(test.encode()).hexdigest()[:8]}"


def template(scaling: bool = False, **changes: str):
    """Return the sample's legacy template.

    Args:
        scaling: whether it has a scaling policy.
        changes: properties of its virtual machine, `network`, `type`.
    """
    found = yaml.safe_load((CIRROS / "legacy.yml").read_text())
    nodes = found["topology_template"]["node_templates"]
    for key, value in changes.items():
        if key == "network":
            nodes["VL1"]["properties"]["network_name"] = value
        elif key == "type":
            nodes["VDU1"]["type"] = value
        else:
            nodes["VDU1"]["properties"][key] = value
    if scaling:
        found["topology_template"]["policies"] = [copy.deepcopy(SCALING)]
    return found


def legacy(name: str, **changes):
    """Return a request for the legacy API."""
    return OnboardRequest(name, owner(), template(**changes), NETWORKS)


def sol(name: str, hot: bool = False, changes: tuple[tuple[str, str], ...] = (), networks=NETWORKS, **others):
    """Return a request for the SOL API.

    Args:
        name: of the VNF.
        hot: whether the package's own HOT is used, or Tacker translates the descriptor.
        changes: words of the package's text files, and those that take their place.
        networks: that its connection points are on.
        others: fields of the request.
    """
    content = changed(package(CloudPlaces.of(ROOT)), changes) if changes else package(CloudPlaces.of(ROOT))
    return OnboardRequest(name, owner(), content, networks, parameters=USER_DATA if hot else {}, **others)


def changed(content: bytes, changes: tuple[tuple[str, str], ...]) -> bytes:
    """Return a package with other words in its text files."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        text = "".join(old.read(name).decode() for name in old.namelist() if not name.endswith(".img"))
        assert all(word in text for word, _ in changes), changes
        for name in old.namelist():
            member = old.read(name)
            if not name.endswith(".img"):
                for word, instead in changes:
                    member = member.replace(word.encode(), instead.encode())
            new.writestr(name, member)
    return made.getvalue()


def failure_of(api, request) -> tuple[NfvbedError, float]:
    """Onboard what cannot be onboarded; return the error, and how many seconds it took."""
    started = time.monotonic()
    try:
        api.onboard(request, lambda text: None)
    except NfvbedError as failure:
        return failure, time.monotonic() - started
    raise AssertionError("it was onboarded")


def failure_when_killed(cloud, api, request, service: str) -> tuple[NfvbedError, float]:
    """Kill a service when Nova has the instance that is onboarded; return the error, and the seconds since the kill."""
    before = cloud.servers()
    with ThreadPoolExecutor(max_workers=1) as executor:
        job = executor.submit(failure_of, api, request)
        assert wait(lambda: job.done() or cloud.servers() - before, 120)
        assert not job.done(), job.result()
        kill(cloud, service)
        killed = time.monotonic()
        failure, _ = job.result()
    return failure, time.monotonic() - killed


def kill(cloud, service: str) -> None:
    """Kill a service in the controller with all that it has started: RabbitMQ's process is a script."""
    (found,) = [one for one in cloud.channel.services() if one.name == service]
    cloud.channel.check(Command(("/usr/bin/kill", "-KILL", "--", f"-{found.pid}")))
