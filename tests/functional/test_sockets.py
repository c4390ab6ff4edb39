"""Traffic between sockets through real switches: the four kinds of tests, and hosts behind vhost-user ports. As root.

Whatever the rates are: bytes arrive, counts agree, and the host is as before.
"""

from dataclasses import replace

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.records import QualityWarning, Role, Status, VnfKind
from nfvbed.records.results import ResultKind, TablePayload
from nfvbed.run.kinds.sockets import CHECKSUM_LEFT
from nfvbed.run.runner import Runner
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.rules import Study
from nfvbed.store import Store
from nfvbed.traffic.sockets import iperf3, netperf, sockettools
from nfvbed.traffic.sockets.netperf import NetperfPrograms
from nfvbed.traffic.sockets.sockettools import LocalTools
from nfvbed.vnfs.offload import REMEDY
from nfvbed.vnfs.sockets.ends import socket_ends
from nfvbed.vnfs.sockets.hosts import HostResources
from tests.functional.vm_guests import PROJECT
from tests.functional.vm_guests import choice as guest

SHORT = {"duration_s": 1, "repetitions": 1}
TESTS = (
    {"kind": "tcp-throughput", "streams": (2,), **SHORT},
    {"kind": "request-response", **SHORT},
    {"kind": "udp-throughput", "message_bytes": (64,), "load_bits_per_s": 1_000_000, **SHORT},
    {"kind": "socket-latency", "modes": ("under-load",), "load_messages_per_s": 1000, **SHORT},
    {"kind": "continuous", "load_pps": 1000, "duration_s": 0.1},
)


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def choice(forwarding):
    return guest(forwarding).model_copy(update={"kind": VnfKind.PROCESS})


def around(site, deployment):
    site.close_generators(deployment)
    return HostResources(site.host_view(deployment).workspace, site.host_view(deployment).arrangement)


def run_of(site, path, name):
    """Run all tests on one cell, as `nfvbed run` does; give results by kind, trials by sequence, and the comparison."""
    values = {"name": "t", "title": "t", "variants": (name,), "frame_sizes": (64,), "ceilings": False, "tests": TESTS}
    values |= {"repetitions": {"needed": 1, "max_rounds": 1}}
    study = Study(Experiment.model_validate(values), (PROJECT.load_variant(name),), PROJECT.load_site("lab"))
    with Store.open(path / "r.sqlite") as store:
        run = Runner(store, lambda *_: site).start(study)
        results = {result.kind: result for result in store.results(run.id)}
        return results, {trial.sequence: trial for trial in store.trials(run.id)}


@pytest.mark.no_hugepages
def test_all_kinds_through_a_bridge(site, tmp_path):
    results, trials = run_of(site, tmp_path, "linux-bridge")
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


def test_tcp_through_vhost_user_ports_and_through_veth_ports_that_the_switch_adds(site):
    deployment = site.deploy(PROJECT.load_variant("ovs-dpdk"), "p2p")
    generators = around(site, deployment)
    own = replace(generators, own_veths=site.host_view(deployment).own_ends["veth"])
    for resources, kind in ((generators, ""), (own, "own veth ports")):
        with socket_ends(deployment, resources) as ends:
            assert ends.kind == kind
            run = iperf3.tcp(sockettools.program(iperf3.NAME), ends.pair, iperf3.Streams(1, 1, None, "reno"))
            assert run.value("throughput") > 0
            assert run.raw["congestion_control"] == "reno"
            client, server = ends.traffic()
            assert client.tx_packets > 0
            assert server.rx_packets > 0
            receiving = {thread.core for thread in ends.threads if thread.role is Role.GENERATOR}
            assert receiving == {resources.arrangement.generator_core}
        site.verify(deployment)
    generator = site.open_generator(deployment)
    generator.close()
    site.destroy(deployment)


@pytest.mark.no_hugepages
def test_requests_through_a_router_that_is_a_vnf(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "pvp", vnf=choice("router"))
    with socket_ends(deployment, around(site, deployment)) as ends:
        run = netperf.tcp_rr(NetperfPrograms.of(LocalTools()), ends.pair, netperf.Messages(1, 1))
        assert run.value("transactions") > 0
    site.verify(deployment)
    site.destroy(deployment)


@pytest.mark.no_hugepages
def test_a_vnf_that_breaks_checksums_is_named_with_the_remedy(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "pvp", vnf=choice("raw"))
    with pytest.raises(UnsupportedError) as caught, socket_ends(deployment, around(site, deployment)):
        pass
    assert caught.value.fix == REMEDY
    site.destroy(deployment)


def at_equal_offloads(site, path):
    """Measure TCP at all offloads through the bridge, and through Open vSwitch with segmentation offload."""
    tests = [{"kind": "tcp-throughput", "streams": [1], "offloads": ["none", "checksum", "tso"], **SHORT}]
    overrides = {"tests": tests, "repetitions.needed": 1, "repetitions.max_rounds": 1, "quick": True}
    study = PROJECT.load_study("seed-sigcomm-offloads", overrides)
    with Store.open(path / "r.sqlite") as store:
        run = Runner(store, lambda *_: site).start(study)
        return {result.cell.partition("/")[0]: result for result in store.results(run.id)}


@pytest.mark.slow
def test_at_equal_offloads_the_userspace_datapath_is_no_order_of_magnitude_below_the_bridge(site, tmp_path):
    results = at_equal_offloads(site, tmp_path)
    assert not {variant: result.reason for variant, result in results.items() if result.status is not Status.OK}
    rows = {
        variant: {row.parameters["offloads"]: row for row in TablePayload.model_validate(result.payload).rows}
        for variant, result in results.items()
    }
    plain = rows["ovs-dpdk"]
    assert (plain["none"].status, plain["tso"].status) == (Status.OK, Status.UNSUPPORTED)
    assert "tso off" in plain["tso"].reason and "userspace_tso" in plain["tso"].reason
    bridge, switch = rows["linux-bridge"], rows["ovs-userspace-tso"]
    for kind in ("none", "checksum", "tso"):
        for row in (bridge[kind], switch[kind]):
            assert row.status is Status.OK, row.reason
            frame = figure(row, "mean frame sent")
            assert frame > 5000 if kind == "tso" else frame <= 1514, row.label
    assert bridge["tso"].parameters["read_back"] == "; ".join(
        f"end {number}: checksum on, tso on, gso on, gro on" for number in (0, 1)
    )
    assert figure(switch["tso"], "throughput") > 3 * figure(switch["none"], "throughput")
    # Through testpmd and taps it was one to 48, at unequal offloads.
    assert figure(bridge["tso"], "throughput") < 20 * figure(switch["tso"], "throughput")


def figure(row, name):
    return next(quantity.value for quantity in row.quantities if quantity.name == name)


@pytest.mark.slow
@pytest.mark.usefixtures("vloop_image")
@pytest.mark.parametrize("name", ["linux-bridge", "ovs-dpdk", "ovs-overlay-geneve"])
def test_between_two_virtual_machines_and_their_forwarding_goes_on(site, tmp_path, name):
    tests = [
        {"kind": "tcp-throughput", "streams": [1], "offloads": ["none", "tso"], **SHORT},
        {"kind": "request-response", **SHORT},
        {"kind": "socket-latency", "modes": ["ping-pong"], **SHORT},
        {"kind": "mrr"},
    ]
    study = PROJECT.load_study("v2v-sockets", {"variants": [name], "baseline": name, "tests": tests, "quick": True})
    with Store.open(tmp_path / "r.sqlite") as store:
        run = Runner(store, lambda *_: site).start(study)
        results = {result.kind: result for result in store.results(run.id)}
        trials = store.trials(run.id)
    tables = {kind: TablePayload.model_validate(r.payload) for kind, r in results.items() if kind.is_table}
    assert {kind: results[kind].status for kind in tables} == dict.fromkeys(tables, Status.OK), results
    plain, whole = tables[ResultKind.TCP_THROUGHPUT].rows
    assert plain.status is Status.OK, plain.reason
    assert figure(plain, "throughput") > 0
    assert figure(plain, "mean frame sent") <= 1514
    assert plain.parameters["ends"] == "guests"
    assert plain.parameters["read_back"].count("checksum off, tso off") == 2
    if name == "linux-bridge":
        assert whole.status is Status.OK, whole.reason
        assert figure(whole, "mean frame sent") > 5000
    else:
        assert whole.status is Status.UNSUPPORTED
        assert "tso off" in whole.reason and "userspace_tso" in whole.reason
    assert figure(tables[ResultKind.REQUEST_RESPONSE].rows[0], "transactions") > 0
    assert figure(tables[ResultKind.SOCKET_LATENCY].rows[0], "round trip P50") > 0
    between = [trial for trial in trials if trial.preset.value != "mrr"]
    assert all(trial.forwarded_rate_pps > 0 for trial in between)
    # Where the guests are emulated every figure says so.
    emulated = any(QualityWarning.EMULATED_ACCELERATOR in trial.warnings for trial in trials)
    assert all((QualityWarning.EMULATED_ACCELERATOR in trial.warnings) == emulated for trial in trials)
    afterwards = [trial for trial in trials if trial.preset.value == "mrr"]
    assert afterwards and all(trial.forwarded_rate_pps > 0 for trial in afterwards), "the source sends again"


@pytest.mark.slow
def test_a_path_that_does_not_complete_checksums_says_so_and_goes_on(site, tmp_path):
    tests = [
        {"kind": "tcp-throughput", "streams": [1], "offloads": ["none", "checksum"], **SHORT},
        {"kind": "request-response", **SHORT},
    ]
    chosen = {"variants": ["xdp"], "baseline": "xdp", "topologies": ["pcp"], "tests": tests}
    chosen |= {"vnfs": [{"kind": "container", "forwarding": "bridge"}], "repetitions.max_rounds": 1}
    with Store.open(tmp_path / "r.sqlite") as store:
        run = Runner(store, lambda *_: site).start(PROJECT.load_study("sockets", chosen))
        results = {result.kind: result for result in store.results(run.id)}
    assert {result.status for result in results.values()} == {Status.OK}, results
    complete, left = TablePayload.model_validate(results[ResultKind.TCP_THROUGHPUT].payload).rows
    assert complete.status is Status.OK, complete.reason
    assert left.status is Status.UNSUPPORTED
    assert left.reason.startswith(CHECKSUM_LEFT)
