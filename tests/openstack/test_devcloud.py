"""A real OpenStack on this machine: started, killed, gone on with; instances boot; Tacker onboards; nothing is left."""

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.dataplanes.devcloud import open_cloud
from tests import footprint
from tests.openstack.cloud_driver import CIRROS, HUGEPAGES_MIB, ROOT, Cloud, argv, command_lines, nfvbed, package, wait

pytestmark = pytest.mark.timeout(2400)
OF_A_LAB = re.compile(r"nfvbed-[0-9a-f]{8}|^run directory: ")
"""Namespaces, mounts, control groups and run directories of deployments: a cloud makes none that is named so."""
LAB_AT_WORK = Path("/run/nfvbed")


@pytest.fixture(scope="module", name="before")
def _before():
    """What this machine had before."""
    assert open_cloud(ROOT).find_node() is None, "a devcloud of this checkout runs: nfvbed devcloud stop"
    return footprint.take()


@pytest.fixture(scope="module", name="starts")
def _starts(before, taken_down):
    """The outputs of a start that was killed, and of the one that went on; tests of onboarding go on with its cloud."""
    killed = subprocess.Popen(argv("start"), cwd=ROOT, stderr=subprocess.PIPE, text=True)
    lines = []
    for line in killed.stderr:
        lines.append(line)
        if " databases " in line:
            break
    time.sleep(2)  # in the middle of the APIs' start
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    return "".join(lines), nfvbed("start")


@pytest.fixture(scope="module", name="cloud")
def _cloud(starts):
    assert starts[1].returncode == 0, starts[1].stderr
    return Cloud()


def test_a_start_goes_on_where_a_killed_one_was(starts):
    _, resumed = starts
    assert resumed.returncode == 0, resumed.stderr
    done = [line.split()[-4:] for line in resumed.stderr.splitlines() if line.endswith("done already")]
    assert len(done) >= 3, resumed.stderr


def test_every_process_runs(cloud):
    found = nfvbed("status", "--json")
    status = json.loads(found.stdout)
    assert (found.returncode, status["complete"], status["missing"]) == (0, True, [])
    assert 0 < status["memory_mib"] < 4096
    assert set(status["stages_s"][0]) and status["stages_s"][-1][0] == "access"


def test_clouds_yaml_is_its_owners_alone_and_lets_one_in(cloud):
    assert cloud.places.clouds.stat().st_mode & 0o777 == 0o600
    assert {one["type"] for one in cloud.api.get("keystone", "/v3/services")["services"]} >= {
        "identity",
        "image",
        "compute",
        "network",
        "orchestration",
        "nfv-orchestration",
    }


def test_the_client_of_the_controller_works(cloud):
    found = nfvbed("shell", "openstack", "network", "agent", "list", "-f", "json")
    assert found.returncode == 0, found.stderr
    assert {(one["Binary"], one["Alive"]) for one in json.loads(found.stdout)} == {
        ("neutron-openvswitch-agent", True),
        ("neutron-dhcp-agent", True),
    }


def test_no_password_is_in_a_log_or_a_command_line(cloud):
    passwords = json.loads(cloud.places.secrets.read_text()).values()
    logs = [path.read_text(errors="replace") for path in cloud.places.directory.glob("logs/*/*.log")]
    running = command_lines()
    assert [text for text in (*logs, running) if any(password in text for password in passwords)] == []


@pytest.mark.on_demand  # test_onboarding.py reaches CirrOS, test_site.py reads a console
def test_cirros_boots_and_is_reached(cloud):
    server = cloud.boot("cirros", "cirros", "nfvbed.small", ("mgmt",))
    try:
        assert cloud.answers(cloud.address(server)), cloud.console(server)
        assert "lease of" in nfvbed("console", "cirros", "--lines", "400").stdout
    finally:
        cloud.delete_server(server)


@pytest.mark.on_demand  # test_site.py sends frames through vloop
def test_vloop_forwards_between_two_data_networks(cloud):
    assert (ROOT / "images/vloop.qcow2").is_file(), "make images"
    cloud.vloop("vloop", "io")
    server = cloud.boot("vloop", "vloop", "nfvbed.hugepages", ("data0", "data1"))
    try:
        assert wait(lambda: "vloop: ready" in cloud.console(server), 120), cloud.console(server)
        sent = 200
        assert wait(lambda: cloud.frames("br-data0", "br-data1", sent) == sent, 30), cloud.console(server)
        assert cloud.frames("br-data1", "br-data0", sent) == sent
    finally:
        cloud.delete_server(server)


@pytest.mark.on_demand  # test_onboarding.py has the life cycles
def test_tacker_onboards_a_legacy_descriptor(cloud):
    api, before = cloud.api, cloud.holdings()
    template = yaml.safe_load((CIRROS / "legacy.yml").read_text())
    body = {"name": "cirros", "service_types": [{"service_type": "vnfd"}], "attributes": {"vnfd": template}}
    vnfd = api.post("tacker", "/v1.0/vnfds", {"vnfd": body})["vnfd"]["id"]
    vnf = api.post("tacker", "/v1.0/vnfs", {"vnf": {"name": "cirros", "vnfd_id": vnfd, "attributes": {}}})["vnf"]["id"]
    place = f"/v1.0/vnfs/{vnf}"
    wait(lambda: api.get("tacker", place)["vnf"]["status"] in ("ACTIVE", "ERROR"), 240)
    found = api.get("tacker", place)["vnf"]
    assert found["status"] == "ACTIVE", found["error_reason"]
    assert cloud.answers(json.loads(found["mgmt_ip_address"])["VDU1"])
    api.delete("tacker", place)
    assert wait(lambda: cloud.is_gone("tacker", place), 120)
    api.delete("tacker", f"/v1.0/vnfds/{vnfd}")
    assert cloud.holdings() == before


@pytest.mark.on_demand  # test_onboarding.py has the life cycles
def test_tacker_onboards_a_sol_package(cloud):
    api, before = cloud.api, cloud.holdings()
    made = api.post("tacker", "/vnfpkgm/v1/vnf_packages", {"userDefinedData": {}})["id"]
    place = f"/vnfpkgm/v1/vnf_packages/{made}"
    content = package(CloudPlaces.of(ROOT))
    api.send_file("PUT", "tacker", f"{place}/package_content", content, "application/zip")
    assert wait(lambda: api.get("tacker", place)["onboardingState"] == "ONBOARDED", 120), api.get("tacker", place)
    vnfd = api.get("tacker", place)["vnfdId"]
    instance = api.post("tacker", "/vnflcm/v1/vnf_instances", {"vnfdId": vnfd, "vnfInstanceName": "sol"})["id"]
    assert _operate(cloud, instance, "instantiate", _instantiation(cloud)) == "COMPLETED"
    (server,) = cloud.servers()
    assert cloud.answers(cloud.address(server)), cloud.console(server)
    assert _operate(cloud, instance, "terminate", {"terminationType": "FORCEFUL"}) == "COMPLETED"
    api.delete("tacker", f"/vnflcm/v1/vnf_instances/{instance}")
    api.ask("PATCH", "tacker", place, {"operationalState": "DISABLED"})
    api.delete("tacker", place)
    assert cloud.holdings() == before


def _instantiation(cloud):
    protocol = {"cpProtocolData": [{"layerProtocol": "IP_OVER_ETHERNET"}]}
    link = {"id": "mgmt", "resourceId": cloud.network("mgmt"), "extCps": [{"cpdId": "CP1", "cpConfig": [protocol]}]}
    (vim,) = cloud.api.get("tacker", "/v1.0/vims")["vims"]
    connection = {"id": "devcloud", "vimId": vim["id"], "vimType": "ETSINFV.OPENSTACK_KEYSTONE.v_2"}
    return {
        "flavourId": "simple",
        "instantiationLevelId": "smallest",
        "extVirtualLinks": [link],
        "vimConnectionInfo": [connection],
    }


def _operate(cloud, instance, operation, body):
    """Ask for an operation of a VNF's life cycle; return the state in which it ended."""
    cloud.api.post("tacker", f"/vnflcm/v1/vnf_instances/{instance}/{operation}", body)

    def state():
        listed = cloud.api.get("tacker", f"/vnflcm/v1/vnf_lcm_op_occs?filter=(eq,vnfInstanceId,{instance})")
        states = [one["operationState"] for one in listed if one["operation"] == operation.upper()]
        return next((one for one in states if one not in ("STARTING", "PROCESSING", "ROLLING_BACK")), "")

    wait(state, 240)
    return state()


def test_a_killed_service_is_named_and_started_again(cloud):
    (conductor,) = [one for one in cloud.channel.services() if one.name == "tacker-conductor"]
    cloud.channel.check(Command(("/usr/bin/kill", "-KILL", str(conductor.pid))))
    found = nfvbed("status")
    assert found.returncode == 20
    assert "tacker-conductor" in found.stdout
    assert "ended with status -9" in found.stdout
    assert nfvbed("start").returncode == 0
    assert nfvbed("status").returncode == 0


def left_by_the_cloud(before):
    """Return what is left, without what is a lab's: others may deploy on this machine meanwhile."""
    left = [one for one in before.left_behind() if not OF_A_LAB.search(one)]
    if LAB_AT_WORK.exists():
        left = [one for one in left if not one.startswith("hugepage pool: ")]
    return left


def test_stop_leaves_nothing_and_the_next_start_has_the_seed(cloud, before):
    assert nfvbed("stop").stdout == "the cloud is taken down\n"
    assert left_by_the_cloud(before) == []
    assert not cloud.places.clouds.exists()
    assert not cloud.places.run.exists()
    assert nfvbed("stop").stdout == "no cloud runs\n"
    assert nfvbed("status").returncode == 0
    started = time.monotonic()
    again = nfvbed("start", "--hugepages-mib", str(HUGEPAGES_MIB))
    assert again.returncode == 0, again.stderr
    assert "(from the seed)" in again.stderr
    print(f"start from the seed: {time.monotonic() - started:.0f} s")
    assert Cloud().api.get("nova", "/v2.1/os-hypervisors")["hypervisors"]
