"""Signalling between an eNB and its MME (S1AP, TS 36.413): the messages that an attach takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from pycrate_asn1dir import S1AP

from nfvbed.spec.corenetwork import CoreNetwork
from nfvbed.vnfs.epc.nas import UNREADABLE, MalformedMessage

_ENB_ID = (1, 20)
"""A macro eNB's: 1, in 20 bits."""
_CELL = (1 << 8 | 1, 28)
_S1_SETUP, _INITIAL_UE, _DOWNLINK_NAS, _UPLINK_NAS = 17, 12, 11, 13
_INITIAL_CONTEXT, _RELEASE = 9, 23
_PDU = S1AP.S1AP_PDU_Descriptions.S1AP_PDU
_IDS = {
    "MME-UE-S1AP-ID": (0, "reject"),
    "ENB-UE-S1AP-ID": (8, "reject"),
    "NAS-PDU": (26, "reject"),
    "E-RABSetupListCtxtSURes": (51, "ignore"),
    "Global-ENB-ID": (59, "reject"),
    "SupportedTAs": (64, "reject"),
    "TAI": (67, "reject"),
    "EUTRAN-CGI": (100, "ignore"),
    "RRC-Establishment-Cause": (134, "ignore"),
    "PagingDRX": (137, "ignore"),
}

Tracking = Mapping[str, bytes]


@dataclass(frozen=True)
class Tunnel:
    """One end of a bearer on S1-U, as its owner tells it."""

    bearer: int
    address: IPv4Address
    teid: int


@dataclass(frozen=True)
class MmeMessage:
    """A message of the MME's, with the parts that an eNB uses."""

    name: str
    """Name of its value in TS 36.413: `S1SetupResponse`, `DownlinkNASTransport`, ..."""
    mme_ue: int | None = None
    enb_ue: int | None = None
    nas: tuple[bytes, ...] = ()
    tunnel: Tunnel | None = None
    """The serving gateway's end of the default bearer."""
    cause: str = ""


def setup_request(network: CoreNetwork) -> bytes:
    """Return the message that introduces the eNB."""
    areas = [{"tAC": network.tac.to_bytes(2, "big"), "broadcastPLMNs": [network.plmn_bytes]}]
    identity = {"pLMNidentity": network.plmn_bytes, "eNB-ID": ("macroENB-ID", _ENB_ID)}
    values = {"Global-ENB-ID": identity, "SupportedTAs": areas, "PagingDRX": "v64"}
    return _encoded("initiatingMessage", (_S1_SETUP, "reject", "S1SetupRequest"), values)


def initial_message(enb_ue: int, nas: bytes, network: CoreNetwork) -> bytes:
    """Return a message with a UE's first message."""
    values = {"ENB-UE-S1AP-ID": enb_ue, "NAS-PDU": nas, **_where(network), "RRC-Establishment-Cause": "mo-Signalling"}
    return _encoded("initiatingMessage", (_INITIAL_UE, "ignore", "InitialUEMessage"), values)


def uplink_message(mme_ue: int, enb_ue: int, nas: bytes, network: CoreNetwork) -> bytes:
    """Return a message with a UE's further message."""
    values = {"MME-UE-S1AP-ID": mme_ue, "ENB-UE-S1AP-ID": enb_ue, "NAS-PDU": nas, **_where(network)}
    return _encoded("initiatingMessage", (_UPLINK_NAS, "ignore", "UplinkNASTransport"), values)


def context_response(mme_ue: int, enb_ue: int, tunnel: Tunnel) -> bytes:
    """Return the message with the eNB's end of the default bearer."""
    item = {
        "e-RAB-ID": tunnel.bearer,
        "transportLayerAddress": (int(tunnel.address), 32),
        "gTP-TEID": tunnel.teid.to_bytes(4, "big"),
    }
    listed = [{"id": 50, "criticality": "ignore", "value": ("E-RABSetupItemCtxtSURes", item)}]
    values = {"MME-UE-S1AP-ID": mme_ue, "ENB-UE-S1AP-ID": enb_ue, "E-RABSetupListCtxtSURes": listed}
    return _encoded("successfulOutcome", (_INITIAL_CONTEXT, "reject", "InitialContextSetupResponse"), values)


def release_complete(mme_ue: int, enb_ue: int) -> bytes:
    """Return the message that a UE's connection is gone."""
    values = {"MME-UE-S1AP-ID": mme_ue, "ENB-UE-S1AP-ID": enb_ue}
    return _encoded("successfulOutcome", (_RELEASE, "reject", "UEContextReleaseComplete"), values)


def decoded(data: bytes) -> MmeMessage:
    """Return a message of the MME's, decoded.

    Raises:
        MalformedMessage: it is none, or lacks what it must have.
    """
    try:
        _PDU.from_aper(data)
        kind, content = _PDU.get_val()
        name, body = content["value"]
        elements = {element["value"][0]: element["value"][1] for element in body["protocolIEs"]}
        return _read(str(name), elements)
    except UNREADABLE as failure:
        raise MalformedMessage("S1AP", f"{type(failure).__name__} in {len(data)} B") from failure


def _read(name: str, elements: Mapping[str, Any]) -> MmeMessage:
    mme_ue, enb_ue = elements.get("MME-UE-S1AP-ID"), elements.get("ENB-UE-S1AP-ID")
    nas = [elements["NAS-PDU"]] if "NAS-PDU" in elements else []
    tunnel = None
    if "UE-S1AP-IDs" in elements:
        kind, ids = elements["UE-S1AP-IDs"]
        mme_ue, enb_ue = (ids["mME-UE-S1AP-ID"], ids["eNB-UE-S1AP-ID"]) if kind == "uE-S1AP-ID-pair" else (ids, None)
    if "E-RABToBeSetupListCtxtSUReq" in elements:
        item = elements["E-RABToBeSetupListCtxtSUReq"][0]["value"][1]
        address, bits = item["transportLayerAddress"]
        if bits != 32:
            raise ValueError("the serving gateway has no IPv4 address")
        tunnel = Tunnel(item["e-RAB-ID"], IPv4Address(address), int.from_bytes(item["gTP-TEID"], "big"))
        if not tunnel.teid:
            raise ValueError("the serving gateway gives out the TEID 0")
        nas += [item["nAS-PDU"]] if "nAS-PDU" in item else []
    cause = elements.get("Cause")
    return MmeMessage(
        name, mme_ue, enb_ue, tuple(map(bytes, nas)), tunnel, "" if cause is None else f"{cause[0]}: {cause[1]}"
    )


def _where(network: CoreNetwork) -> dict[str, object]:
    cell = {"pLMNidentity": network.plmn_bytes, "cell-ID": _CELL}
    return {"EUTRAN-CGI": cell, "TAI": {"pLMNidentity": network.plmn_bytes, "tAC": network.tac.to_bytes(2, "big")}}


def _encoded(kind: str, procedure: tuple[int, str, str], values: Mapping[str, object]) -> bytes:
    code, criticality, name = procedure
    elements = [
        {"id": _IDS[element][0], "criticality": _IDS[element][1], "value": (element, value)}
        for element, value in values.items()
    ]
    message = {"procedureCode": code, "criticality": criticality, "value": (name, {"protocolIEs": elements})}
    _PDU.set_val((kind, message))
    return bytes(_PDU.to_aper())
