"""The PCRF stand-in over loopback sockets: pcrfd's answers byte for byte, refusals, and peers that send nonsense."""

import asyncio
import tracemalloc
from ipaddress import IPv4Address

import pytest
from diameter.message import Avp, Message, MessageHeader
from diameter.message import constants as words
from hypothesis import given

from nfvbed.vnfs.epc import gx, pcrf
from nfvbed.vnfs.epc.subscribers import new_subscribers
from tests.unit.vnfs.epc.fuzzing import KEPT, messages
from tests.unit.vnfs.epc.gx_messages import ENDED, GRANTED, INITIAL, INTRODUCTION, TERMINATION, UNKNOWN

SUBSCRIBER = new_subscribers(1)[0]
INITIAL_REQUEST = words.E_CC_REQUEST_TYPE_INITIAL_REQUEST
TERMINATION_REQUEST = words.E_CC_REQUEST_TYPE_TERMINATION_REQUEST


def stand_in():
    return gx.Pcrf("pcrf.nfvbed", IPv4Address("10.230.0.4"), [SUBSCRIBER])


def origin():
    return [
        Avp.new(words.AVP_ORIGIN_HOST, value=b"pgw.nfvbed"),
        Avp.new(words.AVP_ORIGIN_REALM, value=b"nfvbed"),
    ]


def request(code, application=0, number=1, avps=()):
    header = MessageHeader(
        command_code=code,
        application_id=application,
        hop_by_hop_identifier=number,
        end_to_end_identifier=number,
    )
    header.is_request, header.is_proxyable = True, code == words.CMD_CREDIT_CONTROL
    return Message(header, [*origin(), *avps]).as_bytes()


def identity(data, kind=words.E_SUBSCRIPTION_ID_TYPE_END_USER_IMSI):
    parts = [Avp.new(words.AVP_SUBSCRIPTION_ID_TYPE, value=kind), Avp.new(words.AVP_SUBSCRIPTION_ID_DATA, value=data)]
    return Avp.new(words.AVP_SUBSCRIPTION_ID, value=parts)


def asked(kind, number, imsi=SUBSCRIBER.imsi, apn="internet", left_out=(), others=()):
    """A request of a session, as the one to which pcrfd's answers were taken down."""
    avps = [
        Avp.new(words.AVP_SESSION_ID, value=f"pgw.nfvbed;1;{imsi};gx"),
        Avp.new(words.AVP_CC_REQUEST_TYPE, value=kind),
        Avp.new(words.AVP_CC_REQUEST_NUMBER, value=number),
        identity(imsi),
        Avp.new(words.AVP_CALLED_STATION_ID, value=apn),
    ]
    kept = [avp for avp in avps if avp.code not in left_out]
    return request(words.CMD_CREDIT_CONTROL, words.APP_3GPP_GX, 10 + number, [*kept, *others])


WATCHDOG, GOODBYE = request(words.CMD_DEVICE_WATCHDOG), request(words.CMD_DISCONNECT_PEER)
GOOD = (INTRODUCTION, INITIAL, TERMINATION, WATCHDOG, GOODBYE)


def result_of(data):
    found = [avp.value for avp in Message.from_bytes(data, plain_msg=True).avps if avp.code == words.AVP_RESULT_CODE]
    assert len(found) == 1
    return found[0]


async def asked_for(address, *parts, ends=True):
    """Send parts on one connection; give what comes back until it is closed."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(b"".join(parts))
        if ends:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(-1), 5)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def over_loopback(*exchanges, ends=True):
    """Give what comes back on one connection after the other of one stand-in."""

    async def work():
        server = pcrf.Server(stand_in())
        async with await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=gx.LONGEST) as listening:
            address = listening.sockets[0].getsockname()
            return [await asked_for(address, *parts, ends=ends) for parts in exchanges]

    return asyncio.run(work())


def taken_apart(data):
    found = []
    while data:
        length = gx.length_of(data[:4])
        found.append(data[:length])
        data = data[length:]
    return found


def test_nextepcs_gateway_gets_a_session_and_ends_it():
    (data,) = over_loopback((INTRODUCTION, INITIAL, TERMINATION, WATCHDOG, GOODBYE))
    answers = taken_apart(data)
    assert [result_of(answer) for answer in answers] == [2001] * 5
    numbers = [(answer[5:8], answer[12:20]) for answer in answers]
    assert numbers == [(sent[5:8], sent[12:20]) for sent in (INTRODUCTION, INITIAL, TERMINATION, WATCHDOG, GOODBYE)]
    assert not any(answer[4] & 0x80 for answer in answers)


def test_answers_are_those_of_pcrfd_byte_for_byte():
    (data,) = over_loopback(
        (
            INTRODUCTION,
            asked(INITIAL_REQUEST, 0),
            asked(TERMINATION_REQUEST, 1),
            asked(INITIAL_REQUEST, 0, imsi="001019999999999"),
        )
    )
    assert taken_apart(data)[1:] == [GRANTED, ENDED, UNKNOWN]


def test_it_introduces_itself_with_gx():
    (data,) = over_loopback((INTRODUCTION,))
    avps = {avp.code: avp for avp in Message.from_bytes(data, plain_msg=True).avps}
    assert avps[words.AVP_ORIGIN_HOST].value == b"pcrf.nfvbed"
    assert avps[words.AVP_HOST_IP_ADDRESS].value[1] == "10.230.0.4"
    inner = {avp.code: avp.value for avp in avps[words.AVP_VENDOR_SPECIFIC_APPLICATION_ID].value}
    assert inner == {words.AVP_VENDOR_ID: 10415, words.AVP_AUTH_APPLICATION_ID: 16777238}


@pytest.mark.parametrize(
    ("sent", "result"),
    [
        (asked(INITIAL_REQUEST, 0, apn="nowhere"), 5002),
        (asked(INITIAL_REQUEST, 0, left_out=(words.AVP_CC_REQUEST_TYPE,)), 5005),
        (asked(INITIAL_REQUEST, 0, left_out=(words.AVP_SUBSCRIPTION_ID,)), 5005),
        (asked(INITIAL_REQUEST, 0, left_out=(words.AVP_CALLED_STATION_ID,)), 5005),
        (asked(INITIAL_REQUEST, 0, left_out=(words.AVP_SESSION_ID,)), 5005),
        (asked(words.E_CC_REQUEST_TYPE_EVENT_REQUEST, 0), 5004),
        (
            asked(
                INITIAL_REQUEST,
                0,
                left_out=(words.AVP_SUBSCRIPTION_ID,),
                others=(identity("49171", words.E_SUBSCRIPTION_ID_TYPE_END_USER_E164),),
            ),
            5001,
        ),
    ],
    ids=["apn", "type", "subscriber", "network", "session", "event", "e164"],
)
def test_what_cannot_be_granted_has_its_result_code(sent, result):
    (data,) = over_loopback((INTRODUCTION, sent))
    assert result_of(taken_apart(data)[1]) == result


@pytest.mark.parametrize(
    ("code", "application", "result"),
    [(words.CMD_CREDIT_CONTROL, 4, 3007), (words.CMD_ACCOUNTING, 3, 3001), (0xABCDEF, 0, 3001)],
)
def test_other_commands_and_applications_are_errors_of_the_protocol(code, application, result):
    (data,) = over_loopback((INTRODUCTION, request(code, application)))
    answer = taken_apart(data)[1]
    assert result_of(answer) == result
    assert answer[4] & 0x20


def test_answers_of_the_peer_are_not_answered():
    answer = bytearray(INITIAL)
    answer[4] &= 0x7F
    (data,) = over_loopback((INTRODUCTION, bytes(answer), WATCHDOG))
    assert [found[5:8] for found in taken_apart(data)] == [INTRODUCTION[5:8], WATCHDOG[5:8]]


@pytest.mark.parametrize(
    ("sent", "words_of_log"),
    [
        (INITIAL, "does not introduce itself"),
        (b"GET / HTTP/1.1\r\n\r\n", "version 71"),
        (b"\x01\0\0\0" + bytes(16), "version 1, 0 B"),
        (b"\x01\xff\xff\xfc" + bytes(16), "version 1, 16777212 B"),
        (b"\x02" + INTRODUCTION[1:], "version 2"),
    ],
)
def test_nonsense_ends_that_connection_alone_and_is_said(sent, words_of_log, capsys):
    nothing, answer = over_loopback((sent,), (INTRODUCTION, INITIAL))
    assert nothing == b""
    assert result_of(taken_apart(answer)[1]) == 2001
    assert words_of_log in capsys.readouterr().out


def test_a_peer_that_stops_in_the_middle_of_a_message_is_disconnected(monkeypatch, capsys):
    monkeypatch.setattr(pcrf, "MESSAGE_S", 0.05)
    (data,) = over_loopback((INTRODUCTION, INITIAL[:-4]), ends=False)
    assert len(taken_apart(data)) == 1
    assert "stopped in the middle of a message" in capsys.readouterr().out


class Full:
    """A writer whose peer reads nothing."""

    def __init__(self):
        self.written, self.closed = 0, False

    def write(self, data):
        self.written += len(data)

    async def drain(self):
        await asyncio.sleep(3_600)

    def close(self):
        self.closed = True


def test_a_peer_that_does_not_take_its_answers_is_disconnected(monkeypatch, capsys):
    monkeypatch.setattr(pcrf, "MESSAGE_S", 0.05)
    writer = Full()

    async def work():
        reader = asyncio.StreamReader(limit=gx.LONGEST)
        reader.feed_data(INTRODUCTION + WATCHDOG * 100)
        await pcrf.Server(stand_in()).serve(reader, writer)

    asyncio.run(work())
    assert writer.closed
    assert writer.written < 500, "one answer is under way at a time"
    assert "does not take its answers" in capsys.readouterr().out


@KEPT
@given(data=messages(GOOD))
def test_message_is_answered_or_refused(data):
    try:
        gx.length_of(data[:4].ljust(4, b"\0"))
        answer = stand_in().answer(data)
    except gx.MalformedMessage as failure:
        assert len(str(failure)) < 300
        return
    assert len(answer.data) <= gx.LONGEST + 200


def test_peers_that_send_nonsense_are_disconnected_and_the_next_is_served(capsys):
    @KEPT
    @given(data=messages(GOOD))
    def each(data):
        *_, answer = over_loopback((data,), (INTRODUCTION, data, b"\xff" * gx.HEADER_BYTES), (INTRODUCTION, INITIAL))
        assert result_of(taken_apart(answer)[1]) == 2001

    each()
    assert "a peer is disconnected" in capsys.readouterr().out


@pytest.mark.parametrize("depth", [10, 1_000, 5_000])
def test_deep_groups_are_answered_or_refused(depth):
    group = b""
    for _ in range(depth):
        length = 8 + len(group)
        group = words.AVP_SUBSCRIPTION_ID.to_bytes(4, "big") + b"\x40" + length.to_bytes(3, "big") + group
    for code, application in ((words.CMD_CREDIT_CONTROL, words.APP_3GPP_GX), (words.CMD_ACCOUNTING, 3), (999, 0)):
        start = bytearray(request(code, application))
        start[1:4] = (len(start) + len(group)).to_bytes(3, "big")
        (data,) = over_loopback((INTRODUCTION, bytes(start) + group))
        assert len(taken_apart(data)) == 2


def test_sessions_and_nonsense_make_it_no_larger():
    found = stand_in()

    def many(first):
        for number in range(first, first + 200):
            sent = INITIAL.replace(b";1;app_gx", f";{number % 10};app_gx".encode())
            assert result_of(found.answer(sent).data) == 2001
            with pytest.raises(gx.MalformedMessage):
                found.answer(INITIAL[:-5])

    many(0)
    tracemalloc.start()
    try:
        many(200)
        before, _ = tracemalloc.get_traced_memory()
        many(400)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000


def test_more_peers_than_there_is_room_for_are_refused_and_said(monkeypatch, capsys):
    monkeypatch.setattr(pcrf, "MOST_CONNECTIONS", 2)

    async def work():
        server = pcrf.Server(stand_in())
        async with await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=gx.LONGEST) as listening:
            address = listening.sockets[0].getsockname()
            idle = [await asyncio.open_connection(*address) for _ in range(2)]
            for reader, writer in idle:
                writer.write(INTRODUCTION)
                assert result_of(await asyncio.wait_for(reader.read(1 << 16), 5)) == 2001
            refused = await asked_for(address, INTRODUCTION)
            for _, writer in idle:
                writer.close()
        return refused

    assert asyncio.run(work()) == b""
    assert "more than 2 peers" in capsys.readouterr().out
