"""A mobile core of nextepc's functions: UEs attach, frames come over their bearers both ways, and what goes wrong."""

import os
import signal
import socket
import stat
import time
from pathlib import Path

import pytest

from nfvbed.dataplanes.wiring import require_path
from nfvbed.errors import OnboardError, UnsupportedError, VnfDiedError
from nfvbed.host.network.namespaces import inside
from nfvbed.records import HopKind
from nfvbed.run.kinds.attaches import carrying, passing
from nfvbed.spec.corenetwork import DEFAULT_NETWORK, CoreNetwork
from nfvbed.spec.pcrf import MOST_ATTACHED
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.epc import network
from nfvbed.vnfs.epc.configuration import STORE_PORT
from nfvbed.vnfs.epc.core import FUNCTIONS, GATEWAYS, Subscribers
from nfvbed.vnfs.epc.driver import ATTACHED, attached, bearers_of, ends_of, require_alive, require_attached
from nfvbed.vnfs.epc.live import at_work, carry_each
from nfvbed.vnfs.epc.reports import NO_ANSWER
from nfvbed.vnfs.epc.subscribers import new_subscribers
from tests.functional.declared import PROJECT, vnf
from tests.functional.disturbed import retried, wait_until
from tests.functional.epc_core import running

pytestmark = pytest.mark.no_hugepages

BRIDGE = PROJECT.load_variant("linux-bridge")
FRAMES = 1_000


def vepc():
    spec = PROJECT.load_vnf("vepc").without_machines()
    return VnfChoice(
        label="test", vnf=spec, kind=spec.kinds[0], forwarding="nextepc", flavor=PROJECT.load_flavor(spec.flavor)
    )


def carried(site, deployment, frames):
    live = site._vnfs[deployment.id]
    ends = ends_of(live.seats[0], live.handles[0], deployment)
    return ends.carry(bearers_of(live.handles[0]), frames)


def states(core, functions):
    return {Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] for pid in core.pids(functions)}


def assert_ues_attached_and_a_thousand_frames_come_over_their_bearers_each_way(site, deployment):
    handle = deployment.vnfs[0]
    table = bearers_of(handle)
    assert len(table.bearers) == ATTACHED
    assert {bearer.ue in network.UES for bearer in table.bearers} == {True}
    assert (table.enb, table.sgw, table.server) == (network.ENB_S1U, network.SGW_S1U, network.SERVER)

    def complete(passage):
        return passage[0].uplink.complete and passage[0].downlink.complete

    def pass_frames():
        before = counts(site, deployment)
        return carried(site, deployment, FRAMES), before, counts(site, deployment)

    report, before, after = retried(pass_frames, complete)
    assert complete((report,)), report
    assert report.uplink.sent == report.downlink.sent == FRAMES
    # As many at the gateways' devices as were sent: nothing else is on S1-U and SGi.
    assert [tuple(b - a for a, b in zip(*pair, strict=True)) for pair in zip(before, after, strict=True)] == [
        (FRAMES, FRAMES),
        (FRAMES, FRAMES),
    ]
    core = site._vnfs[deployment.id].drivers[0].core_of(handle)
    assert states(core, [name for name in FUNCTIONS if name not in GATEWAYS]) == {"T"}, "others poll while frames pass"


def counts(site, deployment):
    hops = [hop for hop in site._vnfs[deployment.id].hops()[0] if hop.kind is HopKind.VNF_PORT]
    return [(hop.rx_packets, hop.tx_packets) for hop in hops]


@pytest.mark.slow
def test_it_stays_is_healed_and_offboarded(lab_with_vnfs):
    site = lab_with_vnfs
    deployment, existed = site.onboard(BRIDGE, "vepc", vepc(), print)
    assert not existed
    directory = Path(deployment.run_directory)
    for name in ("sims", "subscribers"):
        file = directory / f"vnf1-{name}.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, "it holds keys"
    mme = site._vnfs[deployment.id].drivers[0].core_of(deployment.vnfs[0]).pids(("mme",))[0]
    os.kill(mme, signal.SIGKILL)
    wait_until(lambda: site.dead_vnfs(deployment))
    healed = site.heal(deployment)
    assert site.dead_vnfs(healed) == ()
    site.offboard(healed)
    assert not list(directory.glob("vnf1-*.json")), "keys stay behind"
    again, _ = site.onboard(BRIDGE, "vepc", vepc(), print)
    assert again.id == deployment.id
    site.destroy(again)
    site.take_down()


def test_a_core_is_in_no_other_topology_and_no_other_vnf_in_this_one(lab_with_vnfs):
    for topology, choice in (("pvp", vepc()), ("vepc", vnf("bridge"))):
        with pytest.raises(UnsupportedError, match="cannot be in topology"):
            require_path(BRIDGE, topology, choice)


REFUSED = (
    ({"imsi": "001019999999999"}, "cause"),
    ({"key": "0" * 32}, "MAC failure"),
    ({"apn": "nowhere"}, "cause"),
)
"""How SIMs differ from what is known of their subscribers, and a part of the cause with which their UEs are refused."""


def test_ues_that_are_refused_are_named_with_the_cause_and_the_others_attach(lab):
    known = new_subscribers(len(REFUSED) + 1)
    wrong = [sim.model_copy(update=changes) for sim, (changes, _) in zip(known, REFUSED, strict=False)]
    with running(Subscribers(known, (*wrong, known[-1]))) as core:
        report = core.emulator.attach([sim.imsi for sim in core.subscribers()])
        assert [bool(outcome.failure) for outcome in report.outcomes] == [True, True, True, False], report
        for outcome, (changes, cause) in zip(report.outcomes, REFUSED, strict=False):
            assert cause in outcome.failure, changes
        with pytest.raises(OnboardError, match="3 of 4 UEs are not attached") as refused:
            require_attached(report)
        assert [cause for _, cause in REFUSED if cause not in refused.value.observed] == []
        core.check()


@pytest.mark.vepc
@pytest.mark.parametrize(
    "network",
    [DEFAULT_NETWORK, CoreNetwork(plmn="310014", tac=7, apn="ims.example")],
    ids=["usual", "three-digits"],
)
def test_ues_detach_and_attach_again(lab, network):
    subscribers = Subscribers.all_known(3, network)
    with running(subscribers) as core:
        imsis = [sim.imsi for sim in subscribers.sims]
        assert core.emulator.attach(imsis, in_flight=3).failures == {}
        assert len(core.emulator.carried().bearers) == 3
        assert core.emulator.detach(imsis[:2]).failures == {}
        assert [bearer.imsi for bearer in core.emulator.carried().bearers] == imsis[2:]
        assert core.emulator.attach(imsis[:2]).failures == {}
        assert len({bearer.ue for bearer in core.emulator.carried().bearers}) == 3


def assert_named(core, function):
    """The end of a function is noticed, and it is named."""
    with pytest.raises(VnfDiedError, match=f"the {function} of vnf1 has ended") as died:
        wait_until(lambda: core.check())
    assert died.value.exit_code == 22


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_that_is_killed_is_named(lab, function):
    with running(Subscribers.all_known(1)) as core:
        os.kill(core.pids((function,))[0], signal.SIGKILL)
        assert_named(core, function)


@pytest.mark.vepc
@pytest.mark.parametrize("function", ["mme", pytest.param("hss", marks=pytest.mark.slow)])
def test_a_function_that_hangs_is_told_from_a_ue_that_is_not_answered(lab, function):
    """Where the HSS hangs the MME answers the eNB all the same; where the MME hangs it does not answer."""
    with running(Subscribers.all_known(2)) as core:
        (pid,) = core.pids((function,))
        os.kill(pid, signal.SIGSTOP)
        report = core.emulator.attach([core.subscribers()[0].imsi])
        assert report.failures == {NO_ANSWER: 1}
        assert report.mme_answers is (function != "mme")
        if function != "mme":
            require_alive(core, report)
            return
        with pytest.raises(VnfDiedError, match="the mme runs and does not answer any more") as stalled:
            require_alive(core, report)
        assert stalled.value.exit_code == 22
        assert "0 of 1 UEs attached" in stalled.value.observed
        os.kill(pid, signal.SIGCONT)
        assert core.emulator.attach([core.subscribers()[1].imsi]).failures == {}, "the next one is served"


@pytest.mark.slow
def test_more_ues_than_the_pools_hold_end_a_function_which_is_named(lab):
    with running(Subscribers.all_known(MOST_ATTACHED["nextepc"] + 20)) as core:
        imsis = [sim.imsi for sim in core.subscribers()]
        first = core.emulator.attach(imsis[: MOST_ATTACHED["nextepc"]])
        assert first.failures == {}, "so many are promised"
        with pytest.raises(VnfDiedError) as died:
            attached(core, MOST_ATTACHED["nextepc"] + 20)
        assert died.value.exit_code == 22
        print(f"{died.value.what}: {died.value.observed}")


def onboarded_core(site, deployment):
    """The mobile core of a deployment, and what counts the bearers that carry."""
    core = site._vnfs[deployment.id].drivers[0].core_of(deployment.vnfs[0])
    table = bearers_of(deployment.vnfs[0])
    return core, lambda: carrying(carry_each(deployment, table, 10))


@pytest.mark.parametrize(
    "function",
    [pytest.param(one, marks=() if one == "sgw" else pytest.mark.slow) for one in FUNCTIONS if one != "enb"],
)
def test_ues_attach_frames_pass_a_function_dies_under_bearers_and_heal_brings_them_back(lab_with_vnfs, function):
    site = lab_with_vnfs
    deployment, _ = site.onboard(BRIDGE, "vepc", vepc(), print)
    if function == "sgw":
        assert_ues_attached_and_a_thousand_frames_come_over_their_bearers_each_way(site, deployment)
    core, alive = onboarded_core(site, deployment)
    core.thaw()  # the others can act on it
    os.kill(core.pids((function,))[0], signal.SIGKILL)
    assert_named(core, function)
    assert site.dead_vnfs(deployment) == ("vnf1",)
    time.sleep(1)
    if function in GATEWAYS:
        # Over all bearers at once: each by itself is a wait for frames that do not come.
        left = carried(site, deployment, 10 * ATTACHED)
        assert (left.uplink.received, left.downlink.received) == (0, 0)
    else:
        assert retried(alive, lambda found: found == ATTACHED) == ATTACHED
    began = time.monotonic()
    healed = site.heal(deployment)
    core, alive = onboarded_core(site, healed)
    assert retried(alive, lambda found: found == ATTACHED) == ATTACHED
    print(f"{function}: healed, frames over all bearers: {time.monotonic() - began:.1f} s")
    site.destroy(healed)
    site.take_down()


@pytest.mark.vepc
def test_a_core_is_put_to_work_and_is_as_it_was(lab_with_vnfs):
    site = lab_with_vnfs
    deployment = site.deploy(BRIDGE, "vepc", vnf=vepc())
    workspace = site.host_view(deployment).workspace
    with at_work(deployment, workspace) as core:
        core.begin()
        table = core.attached(3)
        frames = retried(lambda: carry_each(deployment, table, 20), lambda found: carrying(found) == 3)
        assert carrying(frames) == 3
        assert core.detach(1).failures == {}
        assert len(core.bearers().bearers) == 2
        gone = carry_each(deployment, table, 1)
        assert passing(gone[:1]) == 0, "a bearer outlives its UE"
        core.kill("pgw")
        assert passing(carry_each(deployment, table, 1)) == 0
    functions, alive = onboarded_core(site, deployment)
    assert retried(alive, lambda found: found == ATTACHED) == ATTACHED
    functions.check()
    threads = site.host_view(deployment).work_threads()
    assert [thread.name for thread in threads if "nextepc" in thread.name] == ["nextepc-sgwd", "nextepc-pgwd"]
    with pytest.raises(KeyboardInterrupt), at_work(deployment, workspace):
        raise KeyboardInterrupt
    for function in FUNCTIONS:
        with pytest.raises(VnfDiedError, match=f"the {function} of vnf1 has ended"):
            functions.check((function,))
    site.destroy(deployment)


@pytest.mark.vepc
def test_what_cannot_be_read_ends_that_client_alone(lab):
    with running(Subscribers.all_known(1)) as core:
        netns = f"/run/netns/nfvbed-{core._workspace.id}-vnf1-store"

        def send(data):
            with socket.create_connection((network.STORE, STORE_PORT), timeout=10) as connection:
                connection.sendall(data)
                return connection.recv(1)

        for data in (b"\xff" * 16, bytes(16), b"GET / HTTP/1.1\r\n\r\n"):
            assert inside(netns, lambda data=data: send(data)) == b"", "the connection is closed"
        core.check()
        assert core.emulator.attach([core.subscribers()[0].imsi]).failures == {}
