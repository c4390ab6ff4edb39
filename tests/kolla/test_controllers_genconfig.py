"""What the real kolla-ansible makes of three controllers: one virtual address, clusters of three, one Tacker."""

import re

import pytest

from tests.kolla.cases import THREE_CONTROLLERS

pytestmark = [pytest.mark.timeout(1200), pytest.mark.on_demand]
CONTROLLERS = {"controller1": "10.10.0.7", "controller2": "10.10.0.8", "controller3": "10.10.0.9"}
case = pytest.mark.parametrize("case", [THREE_CONTROLLERS])


def text(made, host, path):
    return (made.folder / host / path).read_text()


@case
def test_keepalived_gives_the_address_to_one_of_them(services, case):
    made, priorities = services(case), []
    for host in CONTROLLERS:
        conf = text(made, host, "keepalived/keepalived.conf")
        assert "vrrp_instance kolla_internal_vip_61 {" in conf and "virtual_router_id 61\n" in conf
        (device,) = re.findall(r"^    interface (\S+)$", conf, re.MULTILINE)
        assert f"10.10.0.250 dev {device}\n" in conf
        priorities += re.findall(r"^    priority (\d+)$", conf, re.MULTILINE)
    assert priorities == ["1", "2", "3"]


@case
def test_the_load_balancers_know_all_three(services, case):
    made = services(case)
    for host in CONTROLLERS:
        conf = text(made, host, "haproxy/services.d/neutron-server.cfg")
        assert "bind 10.10.0.250:9696" in conf
        assert [f"server {name} {address}:9696 " in conf for name, address in CONTROLLERS.items()] == [True] * 3


@case
def test_the_database_is_one_cluster(services, case):
    made = services(case)
    wanted = "gcomm://" + ",".join(f"{address}:4567" for address in CONTROLLERS.values())
    for host, address in CONTROLLERS.items():
        assert made.one(host, "mariadb/galera.cnf", "mysqld/wsrep_cluster_address") == wanted
        assert made.one(host, "mariadb/galera.cnf", "mysqld/wsrep_node_address") == f"{address}:4567"


@case
def test_queues_are_one_cluster(services, case):
    made = services(case)
    for host in CONTROLLERS:
        conf = text(made, host, "rabbitmq/rabbitmq.conf")
        found = re.findall(r"^cluster_formation\.classic_config\.nodes\.\d+ = rabbit@(\S+)$", conf, re.MULTILINE)
        assert found == list(CONTROLLERS)


@case
def test_tacker_is_on_the_first_one(services, case):
    """Kolla shares no folder of VNF packages between machines; so nfvbed's role registers the cloud there, too."""
    made = services(case)
    assert [made.has(host, "tacker-server") for host in CONTROLLERS] == [True, False, False]
    for host in CONTROLLERS:
        members = re.findall(r"^\s*server (\S+) ", text(made, host, "haproxy/services.d/tacker-server.cfg"), re.M)
        assert members == ["controller1"]
