"""Malformed S1AP and NAS at the emulated eNB and its UEs: refused, logged, and the next good message is served."""

from ipaddress import IPv4Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycrate_mobile.TS24301_EMM import EMMAuthenticationRequest

from nfvbed.vnfs.epc import emulation, nas, s1ap
from nfvbed.vnfs.epc import enb as module
from nfvbed.vnfs.epc.enb import Enb
from nfvbed.vnfs.epc.nas import MalformedMessage
from nfvbed.vnfs.epc.s1ap import MmeMessage
from nfvbed.vnfs.epc.subscribers import new_subscribers
from nfvbed.vnfs.epc.ue import Ue
from tests.unit.vnfs.epc.fuzzing import KEPT, messages
from tests.unit.vnfs.epc.mme_double import CLOCK, Mme

ADDRESS = IPv4Address("198.18.0.1")
SUBSCRIBERS = new_subscribers(2)


@pytest.fixture(autouse=True, scope="module")
def _without_waiting():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "time", CLOCK)
        yield


def _good():
    """All messages of an attach and a detach, and what of NAS is in them."""
    mme = Mme(SUBSCRIBERS)
    enb = Enb(mme, ADDRESS)
    enb.set_up()
    assert enb.attach(SUBSCRIBERS).failures == {}
    assert enb.detach([SUBSCRIBERS[0].imsi]).failures == {}
    inner = [data for message in mme.sent for data in s1ap.decoded(message).nas]
    return tuple(mme.sent), tuple(inner)


S1AP, NAS = _good()


@KEPT
@given(data=messages(S1AP))
def test_s1ap_is_read_or_refused(data):
    try:
        assert isinstance(s1ap.decoded(data), MmeMessage)
    except MalformedMessage as failure:
        assert failure.exit_code == 22


def _ue(state):
    ue = Ue(SUBSCRIBERS[0])
    ue.attach()
    challenge, command = NAS[0], NAS[1]
    if state > 0:
        ue.receive(challenge)
    if state > 1:
        ue.receive(command)
    return ue


@settings(KEPT, max_examples=400)
@given(data=messages(NAS), state=st.integers(0, 2))
def test_nas_is_answered_or_refused_in_every_state_of_a_ue(data, state):
    ue = _ue(state)
    try:
        answers = ue.receive(data)
    except MalformedMessage:
        return
    assert all(isinstance(answer, bytes) for answer in answers)


@pytest.mark.parametrize("autn", [b"", bytes(5), bytes(15), bytes(17)])
def test_a_challenge_of_another_length_is_refused(autn):
    """Which the fuzzing had found: an AUTN that was cut off ended the process."""
    data = EMMAuthenticationRequest(val={"NAS_KSI": (0, 1), "RAND": bytes(16), "AUTN": autn}).to_bytes()
    with pytest.raises(MalformedMessage, match="NAS cannot be read"):
        _ue(0).receive(data)


@KEPT
@given(data=messages(NAS))
def test_nothing_of_a_message_is_read_that_is_not_there(data):
    """Whatever it is taken for: a UE asks for these parts by its name."""
    try:
        message = nas.Downlink(data)
    except MalformedMessage:
        return
    parts = {
        "EMMAuthenticationRequest": "challenge",
        "EMMSecurityModeCommand": "integrity_algorithm",
        "ESMInformationRequest": "transaction",
        "EMMAttachAccept": "bearer",
        "EMMAttachReject": "cause",
        "EMMServiceReject": "cause",
        "ESMPDNConnectivityReject": "cause",
    }
    if message.name in parts:
        try:
            assert getattr(message, parts[message.name]) is not None
        except MalformedMessage as failure:
            assert failure.observed


@settings(KEPT, max_examples=60)
@given(noise=st.lists(messages(S1AP), max_size=4))
def test_ues_attach_whatever_cannot_be_read_comes_between(noise):
    """What can be read and is about a UE may end its attach; what cannot be read never does."""
    unread = []
    for data in noise:
        try:
            s1ap.decoded(data)
        except MalformedMessage:
            unread.append(data)
    mme = Mme(SUBSCRIBERS, between=lambda _: unread)
    enb = Enb(mme, ADDRESS)
    if not unread:
        enb.set_up()
    report = enb.attach(SUBSCRIBERS, in_flight=2)
    assert report.failures == {}
    assert report.malformed == len(unread) * 8


@settings(KEPT, max_examples=60)
@given(noise=messages(S1AP))
def test_what_can_be_read_and_is_wrong_ends_no_more_than_its_ue(noise):
    """The process goes on, and once it has ceased UEs attach."""
    wrong = [noise]
    enb = Enb(Mme(SUBSCRIBERS * 2, between=lambda _: wrong), ADDRESS)
    enb.attach(SUBSCRIBERS[:1])
    wrong.clear()
    assert enb.attach(SUBSCRIBERS[1:]).attached == 1
    assert len(enb._contexts) <= 2


@KEPT
@given(line=st.binary(max_size=200) | st.from_regex(rb'\{"do": ?"(attach|detach|bearers)", ?"imsis": ?[^\n]{0,40}\}'))
def test_whatever_a_line_asks_the_answer_is_a_document(line):
    enb = Enb(Mme(SUBSCRIBERS), ADDRESS)
    answer = emulation.Service(enb, {one.imsi: one for one in SUBSCRIBERS}).answer(line)
    assert isinstance(answer, dict)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 60_000,
        b'{"do": "attach", "imsis": [], "in_flight": Infinity}',
        b'{"do": [1]}',
        b'{"do": "attach", "imsis": 5, "in_flight": 1}',
        b"null",
    ],
    ids=["nested", "infinite", "unhashable", "number", "null"],
)
def test_lines_that_once_ended_the_process_are_answered(line):
    service = emulation.Service(Enb(Mme(SUBSCRIBERS), ADDRESS), {})
    assert "asked for something else" in service.answer(line)["error"]
    assert service.answer(b'{"do": "bearers"}') == {"sgw": "", "bearers": []}
