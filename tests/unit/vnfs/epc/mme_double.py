"""An MME in memory: what it answers an emulated eNB, message by message, as nextepc's does; and what is put between."""

from collections import deque
from ipaddress import IPv4Address

from pycrate_asn1dir import S1AP
from pycrate_mobile.TS24301_EMM import (
    EMMAttachAccept,
    EMMAttachReject,
    EMMAuthenticationRequest,
    EMMDetachAccept,
    EMMSecurityModeCommand,
)
from pycrate_mobile.TS24301_ESM import ESMActDefaultEPSBearerCtxtRequest, ESMInformationRequest

from nfvbed.spec.corenetwork import DEFAULT_NETWORK
from nfvbed.vnfs.epc.authentication import DOWNLINK, EIA2, Milenage, eia2, kasme, nas_integrity_key

SGW = IPv4Address("198.18.255.1")
RAND, AMF = bytes(range(16)), bytes([0x80, 0])
_PDU = S1AP.S1AP_PDU_Descriptions.S1AP_PDU


def s1ap(kind, procedure, name, elements):
    """Encode a message; elements are (id, name, value)."""
    listed = [{"id": number, "criticality": "ignore", "value": (title, value)} for number, title, value in elements]
    message = {"procedureCode": procedure, "criticality": "ignore", "value": (name, {"protocolIEs": listed})}
    _PDU.set_val((kind, message))
    return bytes(_PDU.to_aper())


SETUP_RESPONSE = s1ap(
    "successfulOutcome",
    17,
    "S1SetupResponse",
    [
        (
            105,
            "ServedGUMMEIs",
            [{"servedPLMNs": [DEFAULT_NETWORK.plmn_bytes], "servedGroupIDs": [b"\0\2"], "servedMMECs": [b"\1"]}],
        ),
        (87, "RelativeMMECapacity", 255),
    ],
)


def ids(ue):
    return [(0, "MME-UE-S1AP-ID", ue + 100), (8, "ENB-UE-S1AP-ID", ue)]


def downlink(ue, nas):
    return s1ap("initiatingMessage", 11, "DownlinkNASTransport", [*ids(ue), (26, "NAS-PDU", nas)])


def context(ue, nas, teid):
    item = {
        "e-RAB-ID": 5,
        "e-RABlevelQoSParameters": {
            "qCI": 9,
            "allocationRetentionPriority": {
                "priorityLevel": 8,
                "pre-emptionCapability": "may-trigger-pre-emption",
                "pre-emptionVulnerability": "pre-emptable",
            },
        },
        "transportLayerAddress": (int(SGW), 32),
        "gTP-TEID": teid.to_bytes(4, "big"),
        "nAS-PDU": nas,
    }
    listed = {"id": 52, "criticality": "reject", "value": ("E-RABToBeSetupItemCtxtSUReq", item)}
    rates = {"uEaggregateMaximumBitRateDL": 1000, "uEaggregateMaximumBitRateUL": 1000}
    capabilities = {"encryptionAlgorithms": (0, 16), "integrityProtectionAlgorithms": (0x4000, 16)}
    elements = [
        *ids(ue),
        (66, "UEAggregateMaximumBitrate", rates),
        (
            24,
            "E-RABToBeSetupListCtxtSUReq",
            [listed],
        ),
        (107, "UESecurityCapabilities", capabilities),
        (73, "SecurityKey", (0, 256)),
    ]
    return s1ap("initiatingMessage", 9, "InitialContextSetupRequest", elements)


def release(ue):
    pair = ("uE-S1AP-ID-pair", {"mME-UE-S1AP-ID": ue + 100, "eNB-UE-S1AP-ID": ue})
    elements = [(99, "UE-S1AP-IDs", pair), (2, "Cause", ("nas", "detach"))]
    return s1ap("initiatingMessage", 23, "UEContextReleaseCommand", elements)


class Network:
    """The network's side of one UE."""

    def __init__(self, subscriber, number):
        self._number, self._sent = number, 0
        sim = Milenage(bytes.fromhex(subscriber.key), bytes.fromhex(subscriber.opc))
        sqn = (64).to_bytes(6, "big")
        self.concealed = bytes(a ^ b for a, b in zip(sqn, sim.anonymity_key(RAND), strict=True))
        self.autn = self.concealed + AMF + sim.mac(RAND, sqn, AMF)
        keys = sim.cipher_key(RAND), sim.integrity_key(RAND)
        self.key = nas_integrity_key(kasme(*keys, DEFAULT_NETWORK.plmn_bytes, self.concealed), EIA2)

    def protected(self, message, header=2):
        body = bytes([self._sent]) + bytes(message)
        mac = eia2(self.key, self._sent, DOWNLINK, body)
        self._sent += 1
        return bytes([header << 4 | 7]) + mac + body

    def challenge(self):
        return EMMAuthenticationRequest(val={"NAS_KSI": (0, 1), "RAND": RAND, "AUTN": self.autn}).to_bytes()

    def security_mode(self):
        command = EMMSecurityModeCommand(
            val={"NASSecAlgo": {"IntegAlgo": EIA2}, "NAS_KSI": (0, 1), "UESecCap": b"\x80\x20"}
        )
        return self.protected(command.to_bytes(), 3)

    def information(self):
        return self.protected(ESMInformationRequest(val={"ESMHeader": {"PTI": 1}}).to_bytes())

    def accept(self):
        address = bytes([1]) + IPv4Address(f"10.231.0.{self._number + 1}").packed
        bearer = ESMActDefaultEPSBearerCtxtRequest(
            val={
                "ESMHeader": {"EPSBearerId": 5, "PTI": 1},
                "EPSQoS": b"\x09",
                "APN": b"\x08internet",
                "PDNAddr": address,
            }
        )
        guti = bytes.fromhex("f600f110000201") + self._number.to_bytes(4, "big")
        val = {"EPSAttachResult": (0, 1), "T3412": b"\x21", "TAIList": bytes.fromhex("0000f1100001")}
        return self.protected(EMMAttachAccept(val=val | {"ESMContainer": bearer.to_bytes(), "GUTI": guti}).to_bytes())

    def detached(self):
        return self.protected(EMMDetachAccept().to_bytes())

    @staticmethod
    def rejected(cause):
        return EMMAttachReject(val={"EMMCause": cause}).to_bytes()


class Clock:
    """What an eNB takes for `time`: it goes on when nothing comes, at once."""

    def __init__(self):
        self._now_ns = 0

    def monotonic_ns(self):
        self._now_ns += 1000
        return self._now_ns

    def monotonic(self):
        return self.monotonic_ns() / 1e9

    def sleep(self, seconds):
        self._now_ns += round(seconds * 1e9)


CLOCK = Clock()


class Mme:
    """A link whose other end attaches every UE that it knows.

    Args:
        subscribers: whom it knows, in the order in which they will come.
        between: returns what is sent before each message of its own, beside it.
        silent: after so many UEs it answers nobody.
    """

    def __init__(self, subscribers, between=lambda _: (), silent=None):
        self._subscribers, self._between, self._silent = list(subscribers), between, silent
        self._hangs = False
        self._networks, self._steps, self.sent, self._queue = {}, {}, [], deque()

    def send(self, message, of_ue):
        _PDU.from_aper(message)
        _, content = _PDU.get_val()
        name, body = content["value"]
        values = {one["value"][0]: one["value"][1] for one in body["protocolIEs"]}
        for answer in self._answers(name, values.get("ENB-UE-S1AP-ID"), bytes(values.get("NAS-PDU", b""))):
            self._queue.extend((*self._between(answer), answer))

    def receive(self, timeout_s):
        if not self._queue:
            CLOCK.sleep(timeout_s)
            return None
        self.sent.append(self._queue.popleft())
        return self.sent[-1]

    def _answers(self, name, ue, nas):
        if name == "InitialUEMessage" and len(self._networks) == self._silent:
            self._hangs = True
        if self._hangs:
            return
        if name == "S1SetupRequest":
            yield SETUP_RESPONSE
        elif name == "InitialUEMessage":
            self._networks[ue] = Network(self._subscribers[len(self._networks)], ue)
            self._steps[ue] = iter(("security", "information", "accept", "complete", "detach"))
            yield downlink(ue, self._networks[ue].challenge())
        elif name == "UplinkNASTransport":
            yield from self._next(ue)

    def _next(self, ue):
        network = self._networks[ue]
        match next(self._steps[ue], None):
            case "security":
                yield downlink(ue, network.security_mode())
            case "information":
                yield downlink(ue, network.information())
            case "accept":
                yield context(ue, network.accept(), 0x2000 + ue)
            case "detach":
                yield downlink(ue, network.detached())
                yield release(ue)
