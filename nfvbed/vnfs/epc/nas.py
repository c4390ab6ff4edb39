"""Signalling between a UE and its MME (TS 24.301): the messages of an attach and a detach, and their protection."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address
from typing import Any

from pycrate_asn1rt.err import ASN1Err
from pycrate_core.charpy import CharpyErr
from pycrate_core.utils import PycrateErr
from pycrate_mobile.NASLTE import parse_NASLTE_MT
from pycrate_mobile.TS24301_EMM import (
    EMMAttachComplete,
    EMMAttachRequest,
    EMMAuthenticationFailure,
    EMMAuthenticationResponse,
    EMMDetachRequestMO,
    EMMSecurityModeComplete,
)
from pycrate_mobile.TS24301_ESM import (
    ESMActDefaultEPSBearerCtxtAccept,
    ESMInformationResponse,
    ESMPDNConnectivityRequest,
)
from pycrate_mobile.TS24301_IE import EMMCause, ESMCause

from nfvbed.errors import VnfDiedError
from nfvbed.vnfs.epc.authentication import DOWNLINK, EIA2, UPLINK, eia2

MAC_FAILURE, SYNCH_FAILURE = 20, 21
"""Causes that a UE gives (TS 24.301, 9.9.3.9)."""
_EPS_ATTACH, _IPV4, _INITIAL, _IMSI, _GUTI_BYTES = 1, 1, 1, 1, 11
_NETWORK_CAPABILITY = bytes([0x80, 0x20])
"""EEA0 and EIA2 alone."""
_HEADER = 6
"""Security header, signature (4) and sequence number of a protected message."""
_PROTECTED, _NEW_CONTEXT_PROTECTED, _NEW_CONTEXT_COMPLETE = 1, 3, 4
_EMM = 7
_CHALLENGE = 16
"""Bytes of RAND, and of AUTN."""
UNREADABLE = (
    *(PycrateErr, CharpyErr, ASN1Err, struct.error),
    *(KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError, RecursionError),
)
"""What pycrate raises depends on where in a broken message it is."""
_TRANSACTION = 1


class MalformedMessage(VnfDiedError):
    """A message that cannot be read. Its content is never shown: it may hold a subscriber's identity."""

    def __init__(self, protocol: str, observed: str) -> None:
        super().__init__(
            f"a message of {protocol} cannot be read",
            where="between the emulated eNB and the MME",
            observed=observed,
            fix="see the MME's log in the run directory",
        )


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Turn every error while a part of a message is read into one of an unreadable message."""
    try:
        yield
    except UNREADABLE as failure:
        raise MalformedMessage("NAS", f"{type(failure).__name__} in {what}") from failure


class Security:
    """The security context of signalling, which is signed and not enciphered (EEA0)."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._sent = 0

    def protect(self, message: bytes, *, completes: bool = False) -> bytes:
        """Return an uplink message, signed.

        Args:
            completes: whether the answer puts the context into use.
        """
        sequence = bytes([self._sent & 0xFF])
        mac = eia2(self._key, self._sent, UPLINK, sequence + message)
        self._sent += 1
        # Header 2 is signed and enciphered, which with EEA0 is the message itself.
        kind = _NEW_CONTEXT_COMPLETE if completes else 2
        return bytes([kind << 4 | _EMM]) + mac + sequence + message

    def signed(self, message: bytes) -> bool:
        """Return whether a downlink message is signed by the MME that this context is shared with."""
        return eia2(self._key, message[_HEADER - 1], DOWNLINK, message[_HEADER - 1 :]) == message[1:5]


def attach_request(imsi: str) -> bytes:
    """Return a request to attach, with a default bearer; its network is named once messages are signed."""
    connectivity = ESMPDNConnectivityRequest(
        val={"ESMHeader": {"PTI": _TRANSACTION}, "PDNType": _IPV4, "RequestType": _INITIAL, "ESMInfoTransferFlag": 1}
    )
    request = EMMAttachRequest(
        val={
            "NAS_KSI": (0, 7),
            "EPSAttachType": _EPS_ATTACH,
            "EPSID": {"type": _IMSI, "ident": imsi},
            "UENetCap": _NETWORK_CAPABILITY,
            "ESMContainer": connectivity.to_bytes(),
        }
    )
    return bytes(request.to_bytes())


def authentication_response(answer: bytes) -> bytes:
    """Return the proof of the SIM's identity."""
    return bytes(EMMAuthenticationResponse(val={"RES": answer}).to_bytes())


def authentication_failure(cause: int) -> bytes:
    """Return a refusal of a network that does not know the SIM's key, or repeats itself."""
    return bytes(EMMAuthenticationFailure(val={"EMMCause": cause}).to_bytes())


def security_mode_complete() -> bytes:
    """Return the agreement to how messages are signed."""
    return bytes(EMMSecurityModeComplete().to_bytes())


def network_wanted(transaction: int, apn: bytes) -> bytes:
    """Return the name of the network for the default bearer."""
    return bytes(ESMInformationResponse(val={"ESMHeader": {"PTI": transaction}, "APN": apn}).to_bytes())


def attach_complete(bearer: int) -> bytes:
    """Return the acceptance of the default bearer."""
    accepted = ESMActDefaultEPSBearerCtxtAccept(val={"ESMHeader": {"EPSBearerId": bearer}})
    return bytes(EMMAttachComplete(val={"ESMContainer": accepted.to_bytes()}).to_bytes())


def detach_request(guti: bytes) -> bytes:
    """Return a request to detach, without being switched off: the MME answers it."""
    return bytes(
        EMMDetachRequestMO(val={"NAS_KSI": (0, 0), "EPSDetachType": (0, _EPS_ATTACH), "EPSID": guti}).to_bytes()
    )


class Downlink:
    """A message from the MME, decoded.

    Raises:
        MalformedMessage: it is none.
    """

    def __init__(self, data: bytes) -> None:
        if not data:
            raise MalformedMessage("NAS", "an empty message")
        self.data = data
        self.security = data[0] >> 4
        if self.security and len(data) <= _HEADER:
            raise MalformedMessage("NAS", f"a protected message of {len(data)} B")
        with _reading(f"{len(data)} B"):
            message, error = parse_NASLTE_MT(data[_HEADER:] if self.security else data, inner=True)
        if message is None:
            raise MalformedMessage("NAS", f"error {error} (TS 24.301, annex A)")
        self._message = message
        self.name = str(message._name)
        """Name of the message in pycrate: `EMMAttachAccept`, ..."""

    @property
    def starts_context(self) -> bool:
        """Whether it takes a new security context into use."""
        return self.security == _NEW_CONTEXT_PROTECTED

    @property
    def transaction(self) -> int:
        """The session management's transaction: which of the UE's requests it answers."""
        with _reading("the transaction"):
            return int(self._message["ESMHeader"]["PTI"].get_val())

    @property
    def challenge(self) -> tuple[bytes, bytes]:
        """RAND and AUTN of an authentication request.

        Raises:
            MalformedMessage: they are not as long as they must be.
        """
        with _reading("the challenge"):
            rand, autn = (bytes(self._message[name][-1].to_bytes()) for name in ("RAND", "AUTN"))
        if (len(rand), len(autn)) != (_CHALLENGE, _CHALLENGE):
            raise MalformedMessage("NAS", f"a challenge with a RAND of {len(rand)} B and an AUTN of {len(autn)} B")
        return rand, autn

    @property
    def integrity_algorithm(self) -> int:
        """Return the integrity algorithm of a security mode command."""
        with _reading("the algorithms"):
            return int(self._message["NASSecAlgo"][-1].to_bytes()[0]) & 7

    @property
    def cause(self) -> str:
        """The reason for a rejection, in the words of TS 24.301."""
        with _reading("the cause"):
            if self.name.startswith("ESM"):
                return _named(ESMCause._dic, self._message["ESMCause"][-1].to_bytes()[0])
            causes = [_named(EMMCause._dic, self._message["EMMCause"][-1].to_bytes()[0])]
            container = self._inner()
            if container is not None:
                causes.append(_named(ESMCause._dic, container["ESMCause"][-1].to_bytes()[0]))
            return ", ".join(causes)

    @property
    def bearer(self) -> tuple[int, IPv4Address, bytes]:
        """The default bearer of an attach accept: its number, the UE's address, its temporary identity.

        Raises:
            MalformedMessage: it has none of them, or another kind of address.
        """
        with _reading("the default bearer"):
            inner = self._inner()
            if inner is None or inner._name != "ESMActDefaultEPSBearerCtxtRequest":
                raise MalformedMessage("NAS", "an attach accept without a default bearer")
            address, guti = bytes(inner["PDNAddr"][-1].to_bytes()), bytes(self._message["GUTI"][-1].to_bytes())
            number = int(inner["ESMHeader"]["EPSBearerId"].get_val())
        if len(address) != 5 or address[0] & 7 != _IPV4 or len(guti) != _GUTI_BYTES:
            raise MalformedMessage("NAS", "an attach accept without an IPv4 address or a temporary identity")
        return number, IPv4Address(address[1:]), guti

    def _inner(self) -> Any | None:
        container = self._message["ESMContainer"]
        if container.get_trans() or not hasattr(container[-1], "_name") or isinstance(container[-1].get_val(), bytes):
            return None
        return container[-1]


def supported(algorithm: int) -> bool:
    """Return whether a UE signs with it."""
    return algorithm == EIA2


def _named(causes: dict[int, str], number: int) -> str:
    return f"{causes.get(number, 'unknown cause')} (cause {number})"
