"""The emulated eNB against an MME in memory: attach, bearers, detach, and an MME that does not answer."""

from ipaddress import IPv4Address

import pytest

from nfvbed.vnfs.epc import enb as module
from nfvbed.vnfs.epc.enb import Enb
from nfvbed.vnfs.epc.reports import NO_ANSWER
from nfvbed.vnfs.epc.subscribers import new_subscribers
from tests.unit.vnfs.epc.mme_double import CLOCK, SGW, Mme, Network, downlink

ADDRESS = IPv4Address("198.18.0.1")


def enb_at(mme):
    enb = Enb(mme, ADDRESS)
    enb.set_up()
    return enb


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch):
    monkeypatch.setattr(module, "time", CLOCK)


@pytest.mark.parametrize("in_flight", [1, 3])
def test_ues_attach_have_bearers_and_detach(in_flight):
    subscribers = new_subscribers(3)
    enb = enb_at(Mme(subscribers))
    report = enb.attach(subscribers, in_flight)
    assert (report.attached, report.failures, report.malformed, report.mme_answers) == (3, {}, 0, True)
    found = enb.bearers()
    assert [(str(bearer.ue), bearer.uplink_teid) for bearer, _ in found] == [
        (f"10.231.0.{number + 1}", 0x2000 + number) for number in (1, 2, 3)
    ]
    assert {gateway for _, gateway in found} == {SGW}
    assert enb.detach([subscribers[0].imsi]).failures == {}
    assert [bearer.imsi for bearer, _ in enb.bearers()] == [one.imsi for one in subscribers[1:]]


def test_an_mme_that_answers_nobody_is_told_from_one_that_leaves_out_a_ue():
    subscribers = new_subscribers(3)
    enb = enb_at(Mme(subscribers, silent=1))
    report = enb.attach(subscribers)
    assert (report.attached, report.failures, report.mme_answers) == (1, {NO_ANSWER: 2}, False)

    class Forgetful(Mme):
        def _next(self, ue):
            return super()._next(ue) if ue != 2 else iter(())

    report = enb_at(Forgetful(subscribers)).attach(subscribers)
    assert (report.attached, report.failures, report.mme_answers) == (2, {NO_ANSWER: 1}, True)


def test_a_rejected_ue_is_named_with_its_cause_and_the_others_attach():
    subscribers = new_subscribers(2)

    class Strict(Mme):
        def _next(self, ue):
            return iter((downlink(ue, Network.rejected(8)),)) if ue == 1 else super()._next(ue)

    report = enb_at(Strict(subscribers)).attach(subscribers)
    assert report.attached == 1
    assert [outcome.failure for outcome in report.outcomes][1:] == [""]
    assert "(cause 8)" in report.outcomes[0].failure


def test_a_message_that_cannot_be_read_is_why_its_ue_failed(capsys):
    subscribers = new_subscribers(2)

    class Broken(Mme):
        def _next(self, ue):
            return iter((downlink(ue, b"\x07\xff\xff"),)) if ue == 1 else super()._next(ue)

    report = enb_at(Broken(subscribers)).attach(subscribers)
    assert (report.attached, report.malformed) == (1, 1)
    assert "a message of the MME's cannot be read" in report.outcomes[0].failure
    assert "it is left out" in capsys.readouterr().out
