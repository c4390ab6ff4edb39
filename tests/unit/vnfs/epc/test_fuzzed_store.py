"""Malformed MongoDB messages at the subscriber store: refused, the next good one is served, and nothing grows."""

import asyncio
import struct

import bson
import pytest
from bson import Int64
from hypothesis import given
from hypothesis import strategies as st

from nfvbed.vnfs.epc import store, wire
from nfvbed.vnfs.epc.collection import LONGEST_VALUE, Collection, QueryRefused
from nfvbed.vnfs.epc.subscribers import new_subscribers
from tests.unit.vnfs.epc.fuzzing import KEPT, messages

SUBSCRIBER = new_subscribers(1)[0]
MSG, QUERY = 2013, 2004


def collection():
    return Collection([SUBSCRIBER.document()])


def message(document, operation=MSG, number=7):
    data = bson.encode(document)
    body = struct.pack("<IB", 0, 0) + data
    if operation == QUERY:
        body = struct.pack("<i", 0) + b"nextepc.$cmd\0" + struct.pack("<ii", 0, 1) + data
    return wire.HEADER.pack(wire.HEADER.size + len(body), number, 0, operation) + body


FIND = message({"find": "subscribers", "filter": {"imsi": SUBSCRIBER.imsi}, "$db": "nextepc"})
UPDATE = message(
    {
        "update": "subscribers",
        "updates": [{"q": {"imsi": SUBSCRIBER.imsi}, "u": {"$set": {"security.rand": "f" * 32}}}],
        "$db": "nextepc",
    }
)
GOOD = (FIND, UPDATE, message({"isMaster": 1}, QUERY), message({"serverStatus": 1, "$db": "admin"}))


@KEPT
@given(data=messages(GOOD))
def test_request_is_answered_or_refused(data):
    held = collection()
    header, body = data[: wire.HEADER.size].ljust(wire.HEADER.size, b"\0"), data[wire.HEADER.size :]
    try:
        assert 0 < wire.length_of(header) <= wire.LONGEST
        request = wire.request(header, body)
        answer = wire.answer(request, store.reply(held, request))
    except wire.BadRequest:
        return
    assert len(answer) <= wire.LONGEST
    assert bson.encode({"all": held.find({}, {})})


_VALUES = (
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.text(max_size=50) | st.binary(max_size=50)
)
_PATHS = (
    st.sampled_from(["imsi", "security.sqn", "security.rand", "security.new", "pdn", "ambr", "", ".", "a.b"])
    | st.text()
)
_CHANGES = st.dictionaries(
    st.sampled_from(["$set", "$inc", "$bit", "$push"]),
    st.dictionaries(
        _PATHS, _VALUES | st.dictionaries(st.just("and"), _VALUES) | st.lists(_VALUES, max_size=3), max_size=3
    )
    | _VALUES,
    max_size=3,
)


@KEPT
@given(changes=st.lists(_CHANGES, max_size=10))
def test_documents_stay_small(changes):
    held = collection()
    fields = 30
    most = len(bson.encode(SUBSCRIBER.document())) + fields * 4 * LONGEST_VALUE
    for change in changes:
        try:
            held.update({"imsi": SUBSCRIBER.imsi}, change)
        except QueryRefused:
            continue
    (document,) = held.find({}, {})
    assert len(bson.encode(document)) <= most
    assert shape(document) == shape(SUBSCRIBER.document())


def shape(value):
    """Which keys there are, however deep."""
    if isinstance(value, list):
        return [shape(one) for one in value]
    return {name: shape(one) for name, one in value.items()} if isinstance(value, dict) else None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"security.new": "x"}, "no such value"),
        ({"security.new": None}, "no such value"),
        ({"security.rand": "f" * 129}, "129 characters, more than 128"),
        ({"security.rand": 5}, "no such value"),
        ({"security": {}}, "no such value"),
        ({"x" * 5000: 1}, "x" * 80 + ":"),
    ],
)
def test_what_would_grow_is_refused(change, words):
    with pytest.raises(QueryRefused) as refused:
        collection().update({"imsi": SUBSCRIBER.imsi}, {"$set": change})
    assert words in str(refused.value)
    assert len(str(refused.value)) < 200


def test_what_the_hss_changes_is_changed():
    held = collection()
    wanted = {"imsi": SUBSCRIBER.imsi}
    assert held.update(wanted, {"$set": {"security.rand": "aaaaaaaa " * 4, "security.sqn": Int64(96)}}) == 1
    assert (
        held.update(wanted, {"$inc": {"security.sqn": Int64(32)}, "$bit": {"security.sqn": {"and": Int64(127)}}}) == 1
    )
    (document,) = held.find(wanted, {})
    assert (document["security"]["rand"], document["security"]["sqn"]) == ("aaaaaaaa " * 4, 0)


@pytest.mark.parametrize("length", [-1, 0, 15, 16, wire.LONGEST + 1, (1 << 31) - 1])
def test_length_is_judged_before_anything_of_it_is_read(length):
    with pytest.raises(wire.BadRequest, match=f"a message of {length} B"):
        wire.length_of(struct.pack("<iiii", length, 1, 0, MSG))


def nested(depth):
    data = bson.encode({})
    for _ in range(depth):
        inner = b"\x03a\0" + data
        data = struct.pack("<i", len(inner) + 5) + inner + b"\0"
    return data


@pytest.mark.parametrize("depth", [10, 500, 5_000])
@pytest.mark.parametrize("key", [b"$db", b"find", b"filter", b"update", b"updates"])
def test_deep_documents_are_answered_or_refused(depth, key):
    inner = b"\x02find\0\x0c\0\0\0subscribers\0" + b"\x03" + key + b"\0" + nested(depth)
    document = struct.pack("<i", len(inner) + 5) + inner + b"\0"
    body = struct.pack("<IB", 0, 0) + document
    header = wire.HEADER.pack(wire.HEADER.size + len(body), 1, 0, MSG)
    try:
        request = wire.request(header, body)
        assert len(wire.answer(request, store.reply(collection(), request))) <= wire.LONGEST
    except wire.BadRequest as failure:
        assert str(failure)


async def _asked(address, *parts, ends=True):
    """Send parts on one connection; give what comes back until the store closes it.

    Args:
        address: of the store.
        parts: of what is sent.
        ends: whether the client says that nothing else follows.
    """
    reader, writer = await asyncio.open_connection(*address)
    try:
        writer.write(b"".join(parts))
        if ends:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(), 5)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def test_clients_that_send_nonsense_are_disconnected_and_the_next_is_served(capsys):
    @KEPT
    @given(data=messages(GOOD))
    def each(data):
        async def work():
            server = store.Server(collection())
            async with await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=wire.LONGEST) as listening:
                address = listening.sockets[0].getsockname()
                await _asked(address, data, b"\xff" * wire.HEADER.size)
                return await _asked(address, FIND)

        answer = asyncio.run(work())
        assert SUBSCRIBER.imsi.encode() in answer

    each()
    assert "a client is disconnected" in capsys.readouterr().out


def test_more_clients_than_there_is_room_for_are_refused_and_said(capsys):
    async def work():
        server = store.Server(collection())
        async with await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=wire.LONGEST) as listening:
            address = listening.sockets[0].getsockname()
            idle = [await asyncio.open_connection(*address) for _ in range(store.MOST_CONNECTIONS)]
            for _, writer in idle:
                writer.write(FIND)
            for reader, _ in idle:
                assert SUBSCRIBER.imsi.encode() in await asyncio.wait_for(reader.read(1 << 16), 5)
            assert await _asked(address, FIND) == b""
            for _, writer in idle:
                writer.close()
                await writer.wait_closed()
            for _ in range(100):
                if answer := await _asked(address, FIND):
                    return answer
                await asyncio.sleep(0.02)
        return b""

    assert SUBSCRIBER.imsi.encode() in asyncio.run(work())
    assert f"more than {store.MOST_CONNECTIONS} clients" in capsys.readouterr().out


def test_a_client_that_stops_in_the_middle_of_a_message_is_disconnected(monkeypatch, capsys):
    monkeypatch.setattr(store, "MESSAGE_S", 0.05)

    async def work():
        server = store.Server(collection())
        async with await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=wire.LONGEST) as listening:
            return await _asked(listening.sockets[0].getsockname(), FIND[:-1], ends=False)

    assert asyncio.run(work()) == b""
    assert "stopped in the middle of a message" in capsys.readouterr().out
