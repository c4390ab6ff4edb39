"""Traffic between sockets through real switches: the four kinds of tests, and hosts behind vhost-user ports. As root.

Whatever the rates are: bytes arrive, counts agree, and the host is as before.
"""

import json

import pytest
from vm_guests import PROJECT
from vm_guests import choice as guest

from nfvbed.deploy import sockettools
from nfvbed.errors import UnsupportedError
from nfvbed.onboard.offload import REMEDY
from nfvbed.onboard.sockets.ends import socket_ends, why_not
from nfvbed.onboard.sockets.hosts import Surroundings
from nfvbed.records import Status, VnfKind
from nfvbed.results import ResultKind, TablePayload
from nfvbed.run.kinds.tools import netperf_programs
from nfvbed.store import Store
from nfvbed.traffic.sockets import iperf3, netperf

EXPERIMENT = """\
name: sockets-test
title: All kinds of socket traffic, as short as they can be
variants: [linux-bridge]
topologies: [pvp]
frame_sizes: [64]
ceilings: false
tests:
  - {kind: tcp-throughput, streams: [2], duration_s: 1, repetitions: 1}
  - {kind: request-response, duration_s: 1, repetitions: 1}
  - {kind: udp-throughput, message_bytes: [64], load_bits_per_s: 1000000, duration_s: 1, repetitions: 1}
  - {kind: socket-latency, load_messages_per_s: 1000, modes: [under-load], duration_s: 1, repetitions: 1}
  - {kind: continuous, load_pps: 1000, duration_s: 0.1}
repetitions: {needed: 1, max_rounds: 1}
"""


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def choice(forwarding):
    return guest(forwarding).model_copy(update={"kind": VnfKind.PROCESS})


def around(site, deployment):
    site.close_generators(deployment)
    return Surroundings(site.workspace(deployment), site.arrangement(deployment))


def test_all_kinds_through_a_bridge_and_a_vnf(nfvbed, tmp_path):
    (tmp_path / "sockets-test.yml").write_text(EXPERIMENT)
    path = tmp_path / "r.sqlite"
    ran = nfvbed("run", tmp_path / "sockets-test.yml", "--store", path)
    output, errors = ran.communicate(timeout=100)
    assert ran.returncode == 0, output + errors
    with Store.open(path, read_only=True) as store:
        (run,) = store.runs()
        results = {result.kind: result for result in store.results(run.id)}
        trials = {trial.sequence: trial for trial in store.trials(run.id)}
    assert {result.status for result in results.values()} == {Status.OK}, results
    tables = {kind: TablePayload.model_validate(r.payload) for kind, r in results.items() if kind.is_table}
    found = {kind: {q.name: q.value for q in table.rows[0].quantities} for kind, table in tables.items()}
    assert found[ResultKind.TCP_THROUGHPUT]["throughput"] > 0
    assert found[ResultKind.REQUEST_RESPONSE]["transactions"] > 0
    assert found[ResultKind.REQUEST_RESPONSE]["latency P50"] <= found[ResultKind.REQUEST_RESPONSE]["latency P99"]
    assert found[ResultKind.UDP_THROUGHPUT]["received"] > 0
    assert found[ResultKind.SOCKET_LATENCY]["round trip P50"] <= found[ResultKind.SOCKET_LATENCY]["round trip max"]
    for kind, table in tables.items():
        (sequence,) = table.rows[0].sequences
        trial = trials[sequence]
        assert trial.preset.value == kind.value
        assert trial.forwarded_rate_pps > 0, "both hosts' devices received frames"
        assert trial.switch_counters["packets"] > 0, "they came through the switch"
        assert trial.core_distance_ns is not None
        assert trial.engine.name in ("iperf3", "netperf", "sockperf")
    (udp,) = trials[tables[ResultKind.UDP_THROUGHPUT].rows[0].sequences[0]].directions
    assert udp.sent == udp.received + udp.lost
    last = results[ResultKind.CONTINUOUS].payload["points"][0]
    assert last["forwarded_rate_pps"] > 0, "the generator has its ports back"
    told, _ = nfvbed("compare", "--store", path, "--json").communicate(timeout=100)
    assert {test["result"]["kind"] for test in json.loads(told)["tests"]} == {kind.value for kind in results}


def test_tcp_through_vhost_user_ports(site):
    deployment = site.deploy(PROJECT.load_variant("ovs-dpdk"), "p2p")
    for _ in range(2):
        with socket_ends(deployment, around(site, deployment)) as ends:
            run = iperf3.tcp(sockettools.program(iperf3.NAME), ends.pair, iperf3.Streams(1, 1, None, "reno"))
            assert run.value("throughput") > 0
            assert run.raw["congestion_control"] == "reno"
            client, server = ends.counters()
            assert client.tx_packets > 0
            assert server.rx_packets > 0
    site.verify(deployment)
    generator = site.open_generator(deployment)
    generator.close()
    site.destroy(deployment)


def test_requests_through_a_router_that_is_a_vnf(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "pvp", vnf=choice("router"))
    with socket_ends(deployment, around(site, deployment)) as ends:
        run = netperf.tcp_rr(netperf_programs(), ends.pair, netperf.Messages(1, 1))
        assert run.value("transactions") > 0
    site.verify(deployment)
    site.destroy(deployment)


def test_a_vnf_that_breaks_checksums_is_named_with_the_remedy(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "pvp", vnf=choice("raw"))
    with pytest.raises(UnsupportedError) as caught, socket_ends(deployment, around(site, deployment)):
        pass
    assert caught.value.fix == REMEDY
    site.destroy(deployment)


def test_where_no_host_can_be(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "v2v", vnf=choice("io"))
    assert "v2v" in why_not(deployment)
    site.destroy(deployment)
