"""TCP between a UE and the server through a mobile core: every byte arrives, nothing in fragments, checksums are right.

Whatever the rates are; runs of the tools are in what takes long.
"""

import contextlib
import socket
import threading
from pathlib import Path

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.host.network.namespaces import inside
from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import ResultKind, TablePayload
from nfvbed.records.words import CHECKSUM_TRAP
from nfvbed.run.runner import Runner
from nfvbed.spec.choices import resolve
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.rules import Study
from nfvbed.spec.vnf import VnfChoice
from nfvbed.store import Store
from nfvbed.vnfs.epc.checksums import probe_downlink
from nfvbed.vnfs.epc.driver import bearers_of
from nfvbed.vnfs.epc.owngateway import gateway_of
from nfvbed.vnfs.offload import REMEDY, ChecksumPath
from nfvbed.vnfs.sockets.ends import socket_ends
from nfvbed.vnfs.sockets.hosts import UE_MTU, HostResources
from nfvbed.vnfs.sockets.kernel_hosts import kernel_hosts
from nfvbed.vnfs.sockets.ue import behind_enb, counts_of
from tests.functional.declared import PROJECT

pytestmark = pytest.mark.no_hugepages

BRIDGE = PROJECT.load_variant("linux-bridge")
BYTES = 2_000_000
PORT = 5001
WAIT_S = 60
DATAGRAMS, QUIET_S = 20, 2.0
SHORT = {"duration_s": 1, "repetitions": 1}
TESTS = (
    {"kind": "tcp-throughput", "name": "tcp-uplink", "streams": (1,), **SHORT},
    {"kind": "tcp-throughput", "name": "tcp-downlink", "streams": (1,), "direction": "reverse", **SHORT},
    {"kind": "request-response", **SHORT},
    {"kind": "udp-throughput", "message_bytes": (1400,), "load_bits_per_s": 1_000_000, **SHORT},
    {"kind": "continuous", "load_pps": 1000, "duration_s": 0.1},
)


def vepc(offloads=True, forwarding="nextepc"):
    spec = PROJECT.load_vnf("vepc").without_machines()
    flavor = PROJECT.load_flavor(spec.flavor)
    return VnfChoice(
        label="test", vnf=spec, kind=spec.kinds[0], forwarding=forwarding, flavor=flavor, offloads=offloads
    )


def around(site, deployment):
    site.close_generators(deployment)
    view = site.host_view(deployment)
    return HostResources(view.workspace, view.arrangement)


def transfer(sender, receiver):
    """Send so many bytes over one connection, and return what arrived."""
    data = bytes(range(256)) * (BYTES // 256)
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(inside(receiver.netns, lambda: socket.create_server((receiver.address, PORT))))
        listening.settimeout(WAIT_S)
        client = stack.enter_context(
            inside(sender.netns, lambda: socket.create_connection((receiver.address, PORT), timeout=WAIT_S))
        )
        server, (address, _) = listening.accept()
        stack.enter_context(server)
        server.settimeout(WAIT_S)
        assert address == sender.address
        sending = threading.Thread(target=lambda: (client.sendall(data), client.shutdown(socket.SHUT_WR)))
        sending.start()
        arrived = bytearray()
        while part := server.recv(1 << 16):
            arrived += part
        sending.join(WAIT_S)
    assert bytes(arrived) == data


def fragments(deployment):
    """What the kernel cut or put together in every namespace of the deployment."""

    def read():
        names, values = [
            line.split()[1:]
            for line in Path("/proc/thread-self/net/snmp").read_text().splitlines()
            if line.startswith("Ip:")
        ]
        found = dict(zip(names, map(int, values), strict=True))
        return found["FragCreates"], found["FragFails"], found["ReasmReqds"]

    spaces = sorted(Path("/run/netns").glob(f"nfvbed-{Path(deployment.run_directory).name}-*"))
    assert len(spaces) >= 4, "UE, eNB, gateways, server"
    return {space.name: inside(str(space), read) for space in spaces}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "offloads"), [("macvtap", True), ("macvtap", False), ("ovs-afxdp", True), ("xdp", True)]
)
def test_other_data_planes_carry_a_ues_tcp(lab_with_vnfs, variant, offloads):
    site = lab_with_vnfs
    deployment = site.deploy(PROJECT.load_variant(variant), "vepc", vnf=vepc(offloads))
    with socket_ends(deployment, around(site, deployment)) as ends:
        ue, server = ends.hosts
        for sender, receiver in ((ue, server), (server, ue)):
            transfer(sender, receiver)
        assert set(fragments(deployment).values()) == {(0, 0, 0)}
        # The links are looked at where the core has moved them.
        site.verify(deployment)
    site.destroy(deployment)


@pytest.mark.parametrize(
    "offloads", [pytest.param(True, id="native"), pytest.param(False, id="offloads-off", marks=pytest.mark.vepc)]
)
def test_every_byte_arrives_each_way_and_nothing_is_cut(lab_with_vnfs, offloads):
    site = lab_with_vnfs
    deployment = site.deploy(BRIDGE, "vepc", vnf=vepc(offloads))
    # nextepc's gateways are sockets and a tun device: the kernel completes what was left to hardware before the tunnel.
    assert probe_downlink(deployment, bearers_of(deployment.vnfs[0])).result is ChecksumPath.COMPLETED
    assert QualityWarning.OFFLOADS_ON not in site.warnings(deployment, ())
    with socket_ends(deployment, around(site, deployment)) as ends:
        ue, server = ends.hosts
        assert ends.mtu == UE_MTU == 1464
        assert ue.address == str(bearers_of(deployment.vnfs[0]).bearers[0].ue)
        for sender, receiver in ((ue, server), (server, ue)):
            transfer(sender, receiver)
        cut = fragments(deployment)
        assert set(cut.values()) == {(0, 0, 0)}, cut
        (told,) = ends.told()
    (log,) = Path(deployment.run_directory).glob("enb-u*.log")
    counts = counts_of(log)
    # At least as many packets as the bytes fill, and all of them on their way.
    least = BYTES // (UE_MTU - 40)
    assert counts.uplink.sent > least
    assert counts.downlink.to_ue > least
    assert counts.dropped == 0, counts
    assert told == counts.told()
    site.verify(deployment)
    site.destroy(deployment)


@pytest.mark.vepc
@pytest.mark.parametrize(
    ("variant", "forwarding", "offloads"),
    [
        ("linux-bridge", "xdp-gateway", False),
        ("ovs-dpdk", "dpdk-gateway", True),
        pytest.param("ovs-afxdp", "xdp-gateway", True, marks=pytest.mark.slow),
        pytest.param("xdp", "xdp-gateway", True, marks=pytest.mark.slow),
    ],
)
def test_own_gateways_carry_a_ues_tcp(lab_with_vnfs, variant, forwarding, offloads):
    """Every byte arrives each way; what a gateway received it has forwarded, but for what was not for it."""
    site = lab_with_vnfs
    deployment = site.deploy(PROJECT.load_variant(variant), "vepc", vnf=vepc(offloads, forwarding))
    gateway = gateway_of(deployment.vnfs[0])
    with socket_ends(deployment, around(site, deployment)) as ends:
        ue, server = ends.hosts
        for sender, receiver in ((ue, server), (server, ue)):
            before = gateway.client.counters()
            transfer(sender, receiver)
            for port, old in zip(gateway.client.counters().ports, before.ports, strict=True):
                # The first frames of a host that has just come up are not all IPv4.
                assert port.forwarded - old.forwarded == port.received - old.received - port.foreign + old.foreign
        counts = gateway.client.counters()
        assert min(counts.s1u.forwarded, counts.sgi.forwarded) > BYTES // (UE_MTU - 40)
        assert set(fragments(deployment).values()) == {(0, 0, 0)}
    (log,) = Path(deployment.run_directory).glob("enb-u*.log")
    assert counts_of(log).dropped == 0, counts_of(log)
    site.verify(deployment)
    site.destroy(deployment)


@pytest.mark.vepc
def test_sockets_through_a_gateway_that_reads_frames_are_refused_while_offloads_are_on(lab_with_vnfs):
    site = lab_with_vnfs
    deployment = site.deploy(BRIDGE, "vepc", vnf=vepc(forwarding="xdp-gateway"))
    with (
        pytest.raises(UnsupportedError, match=CHECKSUM_TRAP) as refused,
        socket_ends(deployment, around(site, deployment)),
    ):
        pass
    assert refused.value.fix == REMEDY
    assert refused.value.exit_code == 11
    site.destroy(deployment)


def datagrams(sender, receiver):
    """Send datagrams, and return how many of them arrived as they were."""
    with contextlib.ExitStack() as stack:
        sink, source = (
            stack.enter_context(inside(host.netns, lambda: socket.socket(type=socket.SOCK_DGRAM)))
            for host in (receiver, sender)
        )
        sink.bind((receiver.address, PORT))
        sink.settimeout(QUIET_S)
        sent = [bytes([number]) * 100 for number in range(DATAGRAMS)]
        for message in sent:
            source.sendto(message, (receiver.address, PORT))
        found = []
        with contextlib.suppress(TimeoutError):
            while len(found) < DATAGRAMS:
                found.append(sink.recv(200))
    assert found == sent[: len(found)]
    return len(found)


@pytest.mark.vepc
@pytest.mark.parametrize("offloads", [True, False], ids=["native", "offloads-off"])
def test_through_a_gateway_that_reads_frames_offloads_cost_the_downlink_alone(lab_with_vnfs, offloads):
    """Whatever is refused because of it: the uplink's datagrams arrive with offloads on, the downlink's do not."""
    site = lab_with_vnfs
    deployment = site.deploy(BRIDGE, "vepc", vnf=vepc(offloads, "xdp-gateway"))
    surroundings = around(site, deployment)
    with kernel_hosts(deployment, surroundings) as ends, behind_enb(deployment, surroundings, ends) as joined:
        ue, server = joined.hosts
        assert datagrams(ue, server) == DATAGRAMS
        assert datagrams(server, ue) == (0 if offloads else DATAGRAMS)
    site.destroy(deployment)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "forwarding", "offloads"),
    [("linux-bridge", "nextepc", True), ("linux-bridge", "xdp-gateway", False), ("ovs-dpdk", "dpdk-gateway", True)],
)
def test_the_tools_run_both_ways_and_the_generator_has_its_ports_back(
    lab_with_vnfs, tmp_path, variant, forwarding, offloads
):
    site, loaded = lab_with_vnfs, PROJECT.load_variant(variant)
    use = {"vnf": "vepc", "forwarding": forwarding, "offloads": offloads}
    values = {"name": "t", "title": "t", "variants": (variant,), "frame_sizes": (1400,), "ceilings": False}
    values |= {"topologies": ("vepc",), "vnfs": (use,), "tests": TESTS}
    values |= {"repetitions": {"needed": 1, "max_rounds": 1}}
    experiment = Experiment.model_validate(values)
    choice = resolve(experiment.vnfs[0], loaded, PROJECT)
    study = Study(experiment, (loaded,), PROJECT.load_site("lab"), {(variant, choice.label): choice})
    with Store.open(tmp_path / "r.sqlite") as store:
        run = Runner(store, lambda *_: site).start(study)
        results = {result.test: result for result in store.results(run.id)}
    assert {result.status for result in results.values()} == {Status.OK}, results
    tables = {name: TablePayload.model_validate(r.payload) for name, r in results.items() if r.kind.is_table}
    found = {name: {q.name: q.value for q in table.rows[0].quantities} for name, table in tables.items()}
    assert found["tcp-uplink"]["throughput"] > 0
    assert found["tcp-downlink"]["throughput"] > 0
    assert tables["tcp-downlink"].rows[0].parameters["direction"] == "reverse"
    assert "direction" not in tables["tcp-uplink"].rows[0].parameters
    assert found["request-response"]["transactions"] > 0
    assert found["udp-throughput"]["received"] > 0
    assert any("out for it; it dropped" in note for note in tables["tcp-uplink"].notes), tables["tcp-uplink"].notes
    assert results["continuous"].kind is ResultKind.CONTINUOUS
    assert results["continuous"].payload["points"][0]["forwarded_rate_pps"] > 0
