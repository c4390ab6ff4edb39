"""A mobile core whose PCRF is nfvbed's stand-in: more UEs attach, the last one pings, and what ends it is named."""

import os
import signal
import socket
import struct

import pytest

from nfvbed.errors import UnsupportedError, VnfDiedError
from nfvbed.host.network.namespaces import inside
from nfvbed.run.kinds.attaches import carrying
from nfvbed.spec.pcrf import MOST_ATTACHED
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.epc import network
from nfvbed.vnfs.epc.configuration import DIAMETER_PORT
from nfvbed.vnfs.epc.core import FUNCTIONS, Subscribers
from nfvbed.vnfs.epc.driver import attached, bearers_of
from nfvbed.vnfs.epc.live import carry_each
from nfvbed.vnfs.sockets.ends import socket_ends
from nfvbed.vnfs.sockets.hosts import HostResources
from tests.functional.declared import PROJECT
from tests.functional.disturbed import retried, wait_until
from tests.functional.epc_core import running

pytestmark = pytest.mark.vepc

STAND_IN = "stand-in"
MOST = MOST_ATTACHED[STAND_IN]
BRIDGE = PROJECT.load_variant("linux-bridge")
ECHO_REQUEST, ECHO_REPLY = 8, 0
PINGS = 10
WAIT_S = 10


def vepc(bearers):
    spec = PROJECT.load_vnf("vepc").without_machines()
    flavor = PROJECT.load_flavor(spec.flavor)
    return VnfChoice(
        label="test",
        vnf=spec,
        kind=spec.kinds[0],
        forwarding="nextepc",
        flavor=flavor,
        bearers=bearers,
        pcrf=STAND_IN,
    )


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo(kind, number):
    start = struct.pack("!BBHHH", kind, 0, 0, 0x4E46, number)
    return start[:2] + struct.pack("!H", checksum(start)) + start[4:]


def pinged(ue, server):
    """Send echo requests from a UE's namespace, and return how many of them the server has answered."""

    def work():
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as endpoint:
            endpoint.settimeout(WAIT_S)
            for number in range(PINGS):
                endpoint.sendto(echo(ECHO_REQUEST, number), (server.address, 0))
                while True:
                    packet, (source, _) = endpoint.recvfrom(1 << 12)
                    if source == server.address and packet[20:] == echo(ECHO_REPLY, number):
                        break
        return PINGS

    return inside(ue.netns, work)


def test_fifty_ues_attach_all_bearers_carry_and_the_last_one_pings(lab_with_vnfs):
    site = lab_with_vnfs
    deployment = site.deploy(BRIDGE, "vepc", vnf=vepc(MOST))
    handle = deployment.vnfs[0]
    table = bearers_of(handle)
    assert (handle.facts["pcrf"], handle.facts["attached"], handle.facts["synthetic"]) == (STAND_IN, MOST, 0)
    assert len(table.bearers) == MOST
    assert site.rig(deployment)["vnf"]["pcrf"] == STAND_IN
    assert retried(lambda: carrying(carry_each(deployment, table, 10)), lambda found: found == MOST) == MOST
    # The UE between sockets is that of the first bearer: the last one is put there.
    last = handle.facts["bearers"] | {"bearers": handle.facts["bearers"]["bearers"][::-1]}
    turned = deployment.model_copy(
        update={"vnfs": (handle.model_copy(update={"facts": handle.facts | {"bearers": last}}),)}
    )
    site.close_generators(deployment)
    view = site.host_view(deployment)
    with socket_ends(turned, HostResources(view.workspace, view.arrangement)) as ends:
        ue, server = ends.hosts
        assert ue.address == str(table.bearers[-1].ue)
        assert pinged(ue, server) == PINGS
    site.destroy(deployment)


def test_more_than_attach_is_refused(lab_with_vnfs):
    with pytest.raises(UnsupportedError, match="cannot run here") as refused:
        lab_with_vnfs.deploy(BRIDGE, "vepc", vnf=vepc(MOST + 1))
    assert f"at most {MOST}" in refused.value.observed


def test_nonsense_ends_that_peer_alone_and_a_killed_one_is_named(lab):
    with running(Subscribers.all_known(3), STAND_IN) as core:
        netns = f"/run/netns/nfvbed-{core._workspace.id}-vnf1-pcrf"

        def send(data):
            with socket.create_connection((network.PCRF, DIAMETER_PORT), timeout=WAIT_S) as connection:
                connection.sendall(data)
                return connection.recv(1)

        for data in (b"\xff" * 20, bytes(20), b"GET / HTTP/1.1\r\n\r\n"):
            assert inside(netns, lambda data=data: send(data)) == b"", "the connection is closed"
        core.check()
        imsis = [sim.imsi for sim in core.subscribers()]
        assert core.emulator.attach(imsis).failures == {}
        assert core.emulator.detach(imsis).failures == {}
        os.kill(core.pids(("pcrf",))[0], signal.SIGKILL)
        with pytest.raises(VnfDiedError, match="the pcrf of vnf1 has ended") as died:
            wait_until(lambda: core.check())
        assert died.value.exit_code == 22
        assert {name for name in FUNCTIONS if name != "pcrf"} == {
            name for name in FUNCTIONS if not _has_ended(core, name)
        }


def _has_ended(core, function):
    try:
        core.check((function,))
    except VnfDiedError:
        return True
    return False


@pytest.mark.slow
def test_the_mme_is_the_next_limit_and_is_named(lab):
    with running(Subscribers.all_known(MOST + 10), STAND_IN) as core:
        imsis = [sim.imsi for sim in core.subscribers()]
        assert core.emulator.attach(imsis[:MOST], in_flight=4).failures == {}, "so many are promised"
        with pytest.raises(VnfDiedError, match=r"the mme (of vnf1 has ended|runs and does not answer)") as died:
            attached(core, MOST + 10)
        assert died.value.exit_code == 22
        core.check(("pcrf", "hss", "sgw", "pgw"))
        print(f"{died.value.what}: {died.value.observed}")
