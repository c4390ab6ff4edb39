"""The network of a mobile core: as its functions, its subscribers, its eNB and its UEs have it."""

from pathlib import Path

import pytest
import yaml

from nfvbed.spec.corenetwork import DEFAULT_NETWORK, CoreNetwork, apn_bytes
from nfvbed.vnfs.epc import network as places
from nfvbed.vnfs.epc import s1ap
from nfvbed.vnfs.epc.configuration import NextepcPaths, rendered
from nfvbed.vnfs.epc.subscribers import new_subscribers

OTHER = CoreNetwork(plmn="310014", tac=7, apn="ims.example")


@pytest.mark.parametrize(
    ("plmn", "wire"),
    # TS 36.413, 9.2.3.8: MCC 2, MCC 1; F or MNC 1, MCC 3; the last two of MNC, the later first. nextepc takes them so.
    [("00101", "00f110"), ("26201", "62f210"), ("310410", "134001"), ("310014", "130041"), ("001001", "000110")],
)
def test_codes_of_two_and_three_digits_are_told_apart_on_the_wire(plmn, wire):
    assert CoreNetwork(plmn=plmn).plmn_bytes.hex() == wire


def test_labels_of_an_access_point_name_have_their_lengths():
    assert apn_bytes(DEFAULT_NETWORK.apn) == b"\x08internet"
    assert apn_bytes(OTHER.apn) == b"\x03ims\x07example"


def test_the_mme_is_configured_for_it():
    installed = NextepcPaths(Path("lib"), Path("log"))
    for network in (DEFAULT_NETWORK, OTHER):
        mme = yaml.safe_load(rendered("mme", installed, places.ADDRESSES, network))["mme"]
        plmn = {"mcc": network.plmn[:3], "mnc": network.plmn[3:]}
        assert mme["tai"] == {"plmn_id": plmn, "tac": network.tac}
        assert mme["gummei"]["plmn_id"] == plmn


def test_subscribers_are_of_it():
    (sim,) = new_subscribers(1, OTHER)
    assert (sim.imsi, sim.apn) == ("310014000000001", "ims.example")
    (usual,) = new_subscribers(1)
    assert (usual.imsi, usual.apn) == ("001010000000001", "internet")


@pytest.mark.parametrize(
    "message",
    [
        lambda network: s1ap.setup_request(network),
        lambda network: s1ap.initial_message(1, b"nas", network),
        lambda network: s1ap.uplink_message(1, 2, b"nas", network),
    ],
)
def test_the_enb_names_it_in_every_message_that_has_it(message):
    sent = message(OTHER)
    assert OTHER.plmn_bytes in sent and DEFAULT_NETWORK.plmn_bytes not in sent
    assert OTHER.plmn_bytes + b"\x00\x07" in sent or b"\x00\x07" in sent
