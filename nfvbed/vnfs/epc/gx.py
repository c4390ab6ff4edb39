"""A PCRF's answers on Gx (3GPP TS 29.212) over Diameter (RFC 6733), one for each message; no sockets here.

Its answers are those of nextepc's pcrfd, byte for byte, where both know the subscriber. Nothing is kept of a session:
policies are never pushed, so that no number of sessions makes it grow.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Final

from diameter.message import Avp, Message, MessageHeader
from diameter.message import constants as words
from diameter.message.avp.errors import AvpDecodeError
from diameter.message.packer import ConversionError

from nfvbed.vnfs.epc.serving import UnreadableError
from nfvbed.vnfs.epc.subscribers import AMBR_KBITS, PRIORITY, QCI, Subscriber

HEADER_BYTES: Final = 20
LONGEST: Final = 1 << 16
"""The longest message, in bytes; those of a PDN gateway have some hundred."""
_BITS_PER_KBIT, _MOST_BITS = 1024, (1 << 32) - 1
"""nextepc's kilobit, and what a rate is cut to: the answers are pcrfd's, which keeps 32 bits."""
_VENDOR = words.VENDOR_TGPP
_PRODUCT = "nfvbed"
_FEATURES = 0x0B
"""Features of TS 29.212: those of releases 8 and 9, and provisioning of AF signalling flows."""
_UNREADABLE = (AvpDecodeError, ConversionError, struct.error, ValueError, TypeError, OverflowError, IndexError)
"""What python-diameter raises depends on where in a broken message it is."""
_NAMES: Final = {
    words.E_RESULT_CODE_DIAMETER_COMMAND_UNSUPPORTED: "DIAMETER_COMMAND_UNSUPPORTED",
    words.E_RESULT_CODE_DIAMETER_APPLICATION_UNSUPPORTED: "DIAMETER_APPLICATION_UNSUPPORTED",
    words.E_RESULT_CODE_DIAMETER_AVP_UNSUPPORTED: "DIAMETER_AVP_UNSUPPORTED",
    words.E_RESULT_CODE_DIAMETER_UNKNOWN_SESSION_ID: "DIAMETER_UNKNOWN_SESSION_ID",
    words.E_RESULT_CODE_DIAMETER_INVALID_AVP_VALUE: "DIAMETER_INVALID_AVP_VALUE",
    words.E_RESULT_CODE_DIAMETER_MISSING_AVP: "DIAMETER_MISSING_AVP",
}


class MalformedMessage(UnreadableError):
    """A message that cannot be read; its connection is closed."""


class _RequestFailure(Exception):
    """A request whose result is not success."""

    def __init__(self, code: int) -> None:
        super().__init__(_NAMES[code])
        self.code = code


@dataclass(frozen=True)
class Answer:
    """An answer to a peer."""

    data: bytes
    """The message; empty: nothing is."""
    ends: bool = False
    """Whether the connection is closed then."""


class Pcrf:
    """Answers one peer's requests in order.

    Args:
        identity: Diameter identity, `HOST.REALM`.
        address: address that it announces.
        subscribers: subscribers that it knows.
    """

    def __init__(self, identity: str, address: IPv4Address, subscribers: Iterable[Subscriber]) -> None:
        self._identity = identity
        self._address = address
        self._networks = {(one.imsi, one.apn) for one in subscribers}

    def answer(self, data: bytes) -> Answer:
        """Return the answer to a message; an answer of the peer's has none.

        Raises:
            MalformedMessage: it cannot be read.
        """
        try:
            header = MessageHeader.from_bytes(data)
            if not header.is_request:
                return Answer(b"")
            return self._of_request(header, data)
        except _UNREADABLE as failure:
            raise MalformedMessage(f"{type(failure).__name__}: {str(failure)[:200]}") from failure

    def _of_request(self, header: MessageHeader, data: bytes) -> Answer:
        match header.command_code:
            case words.CMD_CAPABILITIES_EXCHANGE:
                return Answer(_packed(header, [_result(words.E_RESULT_CODE_DIAMETER_SUCCESS), *self._capabilities()]))
            case words.CMD_DEVICE_WATCHDOG:
                return Answer(_packed(header, [_result(words.E_RESULT_CODE_DIAMETER_SUCCESS), *self._origin()]))
            case words.CMD_DISCONNECT_PEER:
                found = _packed(header, [_result(words.E_RESULT_CODE_DIAMETER_SUCCESS), *self._origin()])
                return Answer(found, ends=True)
            case words.CMD_CREDIT_CONTROL if header.application_id == words.APP_3GPP_GX:
                return Answer(self._of_session(header, Message.from_bytes(data, plain_msg=True)))
            case words.CMD_CREDIT_CONTROL:
                return self._refused(header, words.E_RESULT_CODE_DIAMETER_APPLICATION_UNSUPPORTED)
        return self._refused(header, words.E_RESULT_CODE_DIAMETER_COMMAND_UNSUPPORTED)

    def _refused(self, header: MessageHeader, code: int) -> Answer:
        """Return an answer with a protocol error (RFC 6733, 7.2)."""
        return Answer(_packed(header, [*self._origin(), _result(code), _told(code)], is_error=True))

    def _of_session(self, header: MessageHeader, request: Message) -> bytes:
        # The order of pcrfd's.
        found = [avp for avp in (_one(request, words.AVP_SESSION_ID),) if avp is not None]
        found.append(Avp.new(words.AVP_AUTH_APPLICATION_ID, value=words.APP_3GPP_GX))
        for code in (words.AVP_CC_REQUEST_TYPE, words.AVP_CC_REQUEST_NUMBER):
            avp = _one(request, code)
            found += [Avp.new(code, value=avp.value)] if avp is not None else []
        try:
            granted, code = self._granted(request), words.E_RESULT_CODE_DIAMETER_SUCCESS
        except _RequestFailure as failure:
            return _packed(header, [*found, *self._origin(), _result(failure.code), _told(failure.code)])
        return _packed(header, [*found, *granted, *self._origin(), _result(code)])

    def _granted(self, request: Message) -> list[Avp]:
        """Return a session's grant: quality of service at its start or update, nothing at its end."""
        for code in (words.AVP_SESSION_ID, words.AVP_ORIGIN_HOST, words.AVP_CC_REQUEST_NUMBER):
            _required(request, code)
        if (_imsi(request), _required(request, words.AVP_CALLED_STATION_ID).value) not in self._networks:
            raise _RequestFailure(words.E_RESULT_CODE_DIAMETER_UNKNOWN_SESSION_ID)
        match _required(request, words.AVP_CC_REQUEST_TYPE).value:
            case words.E_CC_REQUEST_TYPE_INITIAL_REQUEST | words.E_CC_REQUEST_TYPE_UPDATE_REQUEST:
                return _quality()
            case words.E_CC_REQUEST_TYPE_TERMINATION_REQUEST:
                return []
        raise _RequestFailure(words.E_RESULT_CODE_DIAMETER_INVALID_AVP_VALUE)

    def _origin(self) -> list[Avp]:
        return [
            Avp.new(words.AVP_ORIGIN_HOST, value=self._identity.encode()),
            Avp.new(words.AVP_ORIGIN_REALM, value=self._identity.partition(".")[2].encode()),
        ]

    def _capabilities(self) -> list[Avp]:
        of_gx = [
            Avp.new(words.AVP_VENDOR_ID, value=_VENDOR),
            Avp.new(words.AVP_AUTH_APPLICATION_ID, value=words.APP_3GPP_GX),
        ]
        return [
            *self._origin(),
            Avp.new(words.AVP_HOST_IP_ADDRESS, value=str(self._address)),
            Avp.new(words.AVP_VENDOR_ID, value=0),
            Avp.new(words.AVP_PRODUCT_NAME, value=_PRODUCT, is_mandatory=False),
            Avp.new(words.AVP_SUPPORTED_VENDOR_ID, value=_VENDOR),
            Avp.new(words.AVP_VENDOR_SPECIFIC_APPLICATION_ID, value=of_gx),
        ]


def length_of(start: bytes) -> int:
    """Return the length of the message that begins with these 4 bytes.

    Raises:
        MalformedMessage: it is of another version, longer than any, or shorter than its header.
    """
    version, length = start[0], int.from_bytes(start[1:4])
    if version != 1 or not HEADER_BYTES <= length <= LONGEST or length % 4:
        raise MalformedMessage(f"version {version}, {length} B")
    return length


def is_capabilities_request(data: bytes) -> bool:
    """Return whether a message introduces a peer."""
    flags, code = data[4], int.from_bytes(data[5:8])
    return bool(flags & MessageHeader.command_flag_request_bit) and code == words.CMD_CAPABILITIES_EXCHANGE


def _quality() -> list[Avp]:
    """Return rates and the default bearer's class, which all subscribers share.

    No charging rule is installed: pcrfd installs those of the profile, and it has none.
    """
    qci = _of_gx(words.AVP_TGPP_QOS_CLASS_IDENTIFIER, QCI, is_mandatory=True)
    priority = [
        _of_gx(words.AVP_TGPP_PRIORITY_LEVEL, PRIORITY["priority_level"]),
        _of_gx(words.AVP_TGPP_PRE_EMPTION_CAPABILITY, PRIORITY["pre_emption_capability"]),
        _of_gx(words.AVP_TGPP_PRE_EMPTION_VULNERABILITY, PRIORITY["pre_emption_vulnerability"]),
    ]
    bits = AMBR_KBITS * _BITS_PER_KBIT & _MOST_BITS
    rates = [
        _of_gx(words.AVP_TGPP_APN_AGGREGATE_MAX_BITRATE_UL, bits),
        _of_gx(words.AVP_TGPP_APN_AGGREGATE_MAX_BITRATE_DL, bits),
    ]
    features = [_of_gx(words.AVP_TGPP_FEATURE_LIST_ID, 1), _of_gx(words.AVP_TGPP_FEATURE_LIST, _FEATURES)]
    bearer = [qci, _of_gx(words.AVP_TGPP_ALLOCATION_RETENTION_PRIORITY, priority)]
    return [
        _of_gx(words.AVP_TGPP_QOS_INFORMATION, rates, is_mandatory=True),
        _of_gx(words.AVP_TGPP_DEFAULT_EPS_BEARER_QOS, bearer),
        _of_gx(words.AVP_TGPP_SUPPORTED_FEATURES, features),
    ]


def _of_gx(code: int, value: int | list[Avp], is_mandatory: bool = False) -> Avp:
    return Avp.new(code, _VENDOR, value, is_mandatory=is_mandatory)


def _result(code: int) -> Avp:
    return Avp.new(words.AVP_RESULT_CODE, value=code)


def _told(code: int) -> Avp:
    return Avp.new(words.AVP_ERROR_MESSAGE, value=_NAMES[code], is_mandatory=False)


def _packed(request: MessageHeader, avps: list[Avp], is_error: bool = False) -> bytes:
    """Return the answer to a request as bytes, with its numbers and whether proxies may forward it."""
    header = MessageHeader(
        command_code=request.command_code,
        application_id=request.application_id,
        hop_by_hop_identifier=request.hop_by_hop_identifier,
        end_to_end_identifier=request.end_to_end_identifier,
    )
    header.is_proxyable, header.is_error = request.is_proxyable, is_error
    data: bytes = Message(header, avps).as_bytes()
    return data


def _one(request: Message, code: int) -> Avp | None:
    return next((avp for avp in request.avps if avp.code == code and not avp.vendor_id), None)


def _required(request: Message, code: int) -> Avp:
    found = _one(request, code)
    if found is None:
        raise _RequestFailure(words.E_RESULT_CODE_DIAMETER_MISSING_AVP)
    return found


def _imsi(request: Message) -> str:
    """Return the number of a session's subscriber; pcrfd takes no other identity either."""
    parts = {avp.code: avp for avp in _required(request, words.AVP_SUBSCRIPTION_ID).value}
    if not {words.AVP_SUBSCRIPTION_ID_TYPE, words.AVP_SUBSCRIPTION_ID_DATA} <= parts.keys():
        raise _RequestFailure(words.E_RESULT_CODE_DIAMETER_MISSING_AVP)
    if parts[words.AVP_SUBSCRIPTION_ID_TYPE].value != words.E_SUBSCRIPTION_ID_TYPE_END_USER_IMSI:
        raise _RequestFailure(words.E_RESULT_CODE_DIAMETER_AVP_UNSUPPORTED)
    return str(parts[words.AVP_SUBSCRIPTION_ID_DATA].value)
