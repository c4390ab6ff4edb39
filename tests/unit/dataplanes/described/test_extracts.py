"""What is read of outputs: those of iproute2 6.1.0 and DPDK 22.11.11, as they wrote them on Linux 6.18."""

import time

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.described import extracts
from nfvbed.dataplanes.described.extracts import Extract
from nfvbed.errors import DeployError

QDISC = (
    '[{"kind":"ingress","handle":"ffff:","parent":"ffff:fff1","options":{},"bytes":960,"packets":16,"drops":3,'
    '"overlimits":0,"requeues":0,"backlog":0,"qlen":0}]'
)
MIRRED = (
    '[{"protocol":"all","pref":1,"kind":"u32","chain":0},{"protocol":"all","pref":1,"kind":"u32","chain":0,"options":'
    '{"fh":"800::800","order":2048,"key_ht":"800","bkt":"0","not_in_hw":true,"match":{"value":"0","mask":"0",'
    '"offmask":"","off":0},"actions":[{"order":1,"kind":"mirred","mirred_action":"redirect","direction":"egress",'
    '"to_dev":"s0","control_action":{"type":"stolen"},"index":1,"ref":1,"bind":1}]}}]'
)
TELEMETRY = '{"/ethdev/stats": {"ipackets": 3812608, "opackets": 3645184, "imissed": 0, "q_ipackets": [3812608, 0]}}'


def test_a_place_in_a_document() -> None:
    assert Extract(pointer="/0/packets").count(QDISC, {}, "tc") == 16
    assert Extract(pointer="/~1ethdev~1stats/ipackets").count(TELEMETRY, {}, "telemetry") == 3812608


def test_a_place_of_a_port_whose_name_has_the_pointers_signs() -> None:
    assert Extract(pointer="/{port}/rx").count('{"a/b~c": {"rx": 7}}', {"port": "a/b~c"}, "x") == 7


def test_a_place_in_text() -> None:
    assert Extract(pattern='"to_dev":"({peer})"').text(MIRRED, {"peer": "s0"}, "tc") == "s0"
    assert Extract(pattern=r"iproute2-([^\s,]+)").text("tc utility, iproute2-6.1.0, libbpf 1.1.2", {}, "tc") == "6.1.0"


@pytest.mark.parametrize(
    ("extract", "output", "says"),
    [
        (Extract(pointer="/0/packets"), "Cannot find device", "the output is no JSON document"),
        (Extract(pointer="/0/packets"), "[" * 100_000, "the output is no JSON document"),
        (Extract(pointer="/0/sent"), QDISC, "is not there"),
        (Extract(pointer="/1/packets"), QDISC, "is not there"),
        (Extract(pointer="/0/options"), QDISC, "holds neither a number nor a text"),
        (Extract(pointer="/0/kind"), QDISC, "holds no whole number"),
        (Extract(pattern=r"rx (-?\d+)"), "rx -4", "holds no whole number"),
        (Extract(pattern=r"rx (\d+)"), "", "is not there"),
    ],
)
def test_what_is_not_there_is_said_with_the_output(extract: Extract, output: str, says: str) -> None:
    with pytest.raises(DeployError) as failure:
        extract.count(output, {}, "tc -s")
    assert says in failure.value.what
    assert "tc -s" in failure.value.where
    assert failure.value.observed


def test_a_search_that_would_take_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extracts, "PATTERN_TIME_S", 0.05)
    began = time.thread_time()
    with pytest.raises(DeployError, match=r"not found within 0\.05 s"):
        Extract(pattern="^(?:(?:a|aa)+)(c)$").text("a" * 60 + "b", {}, "x")
    assert time.thread_time() - began < 1.0


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "one of them"),
        ({"pointer": "/a", "pattern": "(a)"}, "one of them"),
        ({"pointer": "packets"}, "is no JSON pointer"),
        ({"pattern": "(a"}, "is no regular expression"),
        ({"pattern": "a"}, "has 0 groups"),
        ({"pattern": "(a)(b)"}, "has 2 groups"),
        ({"pattern": "({prot})"}, "no placeholder"),
    ],
)
def test_a_place_that_cannot_be_read_is_refused(keys: dict[str, str], says: str) -> None:
    with pytest.raises(ValidationError) as failure:
        Extract.model_validate(keys)
    assert says in str(failure.value)
