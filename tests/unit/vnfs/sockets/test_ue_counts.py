"""What an eNB's user plane counts, and what it is asked with; nothing is made."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.errors import GeneratorError
from nfvbed.host.native import native_binary
from nfvbed.traffic.sockets.hosts import SocketPair
from nfvbed.units import GTPU_BYTES
from nfvbed.vnfs.sockets.hosts import MTU, UE_MTU, NamespaceHost
from nfvbed.vnfs.sockets.ue import PROGRAM, counts_of

UPLINK = {"from_ue": 10, "sent": 7, "not_ipv4": 1, "too_big": 1, "refused": 1}
DOWNLINK = {"received": 9, "to_ue": 5, "foreign": 1, "other": 1, "extended": 0, "unknown_teid": 1, "malformed": 1}


def written(path: Path, text: str) -> Path:
    log = path / "enb.log"
    log.write_text(text)
    return log


def test_every_packet_that_is_not_passed_on_is_dropped(tmp_path):
    counts = counts_of(written(tmp_path, json.dumps({"uplink": UPLINK, "downlink": {**DOWNLINK, "refused": 0}}) + "\n"))
    assert counts.dropped == 3 + 4
    assert counts.told() == (
        "The eNB put 7 packets of the UE into GTP-U and took 5 out for it; it dropped 7, 1 of them as too big for S1-U."
    )


@pytest.mark.parametrize(("text", "observed"), [("", "nothing"), ("nfvbed-enb: packets: No such device\n", "device")])
def test_one_that_ends_otherwise_is_an_error_with_its_words(tmp_path, text, observed):
    with pytest.raises(GeneratorError, match="did not end as it should") as failure:
        counts_of(written(tmp_path, text))
    assert observed in failure.value.observed


def test_packets_of_a_ue_fit_s1u():
    assert UE_MTU + GTPU_BYTES == MTU


def test_a_pair_that_is_turned_has_its_ends_exchanged():
    client, server = (NamespaceHost(address, f"/ns/{address}", 0, None) for address in ("192.0.2.1", "192.0.2.2"))
    pair = SocketPair(client, server)
    assert pair.turned() == replace(pair, client=pair.server, server=pair.client)
    assert pair.turned().turned() == pair


GOOD = {
    "--tun": "ue0", "--netns": "/run/netns/x", "--address": "198.18.0.1", "--gateway": "198.18.255.1",
    "--uplink-teid": "1", "--downlink-teid": "4096",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"--tun": "a-name-that-is-too-long"}, "1 to 15 bytes"),
        ({"--address": "198.18.0"}, "an IPv4 address"),
        ({"--gateway": "0.0.0.0"}, "an IPv4 address"),
        ({"--uplink-teid": "0"}, "1 to 4294967295"),
        ({"--downlink-teid": "4294967296"}, "1 to 4294967295"),
        ({"--downlink-teid": "-1"}, "1 to 4294967295"),
        ({"--netns": ""}, "network namespace"),
        ({"--tun": None}, "every option must be given"),
    ],
)
def test_the_program_refuses_what_it_cannot_do(changed, said):
    options = {name: value for name, value in {**GOOD, **changed}.items() if value is not None}
    argv = [str(native_binary(PROGRAM)), *(word for pair in options.items() for word in pair)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert said in done.stderr
