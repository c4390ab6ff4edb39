# SPDX-License-Identifier: Apache-2.0
"""Frames of bearers through a gateway: a double that takes GTP-U off and puts it on, and harms some of them."""

import json
import sys
from pathlib import Path

import pytest

from tests.functional import gateway_double
from tests.functional.dpdk_driver import enough_hugepages
from tests.functional.xdp_driver import Generator

pytestmark = pytest.mark.no_hugepages

BOUNDED = {"duration_ns": 5_000_000_000, "frames": 300, "drain_ns": 500_000_000}
UPLINK, DOWNLINK = [[0, 1]], [[1, 0]]


def table(count):
    """So many bearers; nothing in them is in order."""
    rows = [
        [f"10.45.{7 * n // 256 % 256}.{7 * n % 256}", 0x80000001 + 513 * n, 1 + 77 * n] for n in range(1, count + 1)
    ]
    return {"enb": "192.0.2.1", "sgw": "192.0.2.2", "server": "203.0.113.9", "bearers": rows}


def stack(count):
    """The headers of frames of so many bearers."""
    return {"ip": 4, "gtpu": table(count)}


PORTS = {"xdp": ("nfvta", "nfvtb"), "dpdk": ("net_af_packet0,iface=nfvta", "net_af_packet1,iface=nfvtb")}


@pytest.fixture(scope="module", name="hugepages")
def _hugepages():
    with enough_hugepages():
        yield


@pytest.fixture(name="engine", params=["xdp", pytest.param("dpdk", marks=pytest.mark.slow)])
def _engine(request):
    """Either engine of the generator."""
    if request.param == "dpdk":
        request.getfixturevalue("hugepages")
    return request.param


@pytest.fixture(name="through_gateway")
def _through_gateway(namespace, tmp_path):
    """A generator whose frames go through the double."""
    namespace.pair("nfvta", "nfvtc")
    namespace.pair("nfvtb", "nfvtd")
    namespace.receive_offload("on", "nfvtc", "nfvtd")
    started = []

    def start(count, fault="", engine="xdp"):
        path = tmp_path / "table"
        path.write_text(json.dumps(table(count)))
        script = str(Path(gateway_double.__file__).resolve())
        gateway = namespace.start(sys.executable, script, "nfvtc", "nfvtd", str(path), fault)
        started.append(gateway)
        assert gateway.stdout.readline() == "ready\n", gateway.stderr.read()
        generator = Generator(namespace, tmp_path / "s", PORTS[engine], "--engine", engine)
        started.append(generator.process)
        return generator

    yield start
    for process in started[::-1]:
        process.terminate()
        process.communicate(timeout=20)


def seen(trial, number=0):
    """The counts that tell what became of a direction's frames."""
    direction = trial["directions"][number]
    kinds = ("received", "lost", "corrupted", "reordered", "duplicated")
    return {kind: direction[kind] for kind in kinds} | {"foreign": trial["foreign"][direction["rx"]]}


@pytest.mark.parametrize(
    ("bearers", "sizes"),
    [(1, [[64, 1]]), (40, [[1482, 1]]), (1000, [[64, 1]]), (1000, [[64, 7], [571, 4], [1482, 1]])],
)
def test_all_frames_come_back_as_they_should(through_gateway, engine, bearers, sizes):
    """Both directions at once; every bearer has its turn, as 1,200 frames go in turn over at most 1,000."""
    keys = BOUNDED | {"frames": 1200}
    trial = through_gateway(bearers, engine=engine).trial(stack=stack(bearers), frame_sizes=sizes, **keys)
    for number, direction in enumerate(trial["directions"]):
        right = {"received": direction["sent"], "lost": 0, "corrupted": 0, "reordered": 0, "duplicated": 0}
        assert seen(trial, number) == right | {"foreign": 0}
        assert direction["sent"] > 1000
        assert sum(count for _, count in direction["latency"]["counts"]) == direction["sent"]
        # Uplink frames lose the tunnel on their way, downlink frames get it.
        longer = -36 if number == 0 else 36
        assert direction["received_bytes"] == direction["sent_bytes"] + longer * direction["sent"]
    if sizes == [[64, 1]]:
        assert [d["sent_bytes"] / d["sent"] for d in trial["directions"]] == [100, 64]


@pytest.mark.parametrize(
    ("fault", "ways", "kind"),
    [
        ("as it came", UPLINK, "corrupted"),
        ("as it came", DOWNLINK, "corrupted"),
        ("another UE", UPLINK, "corrupted"),
        ("another UE", DOWNLINK, "corrupted"),
        ("another bearer's TEID", DOWNLINK, "corrupted"),
        ("unknown TEID", DOWNLINK, "corrupted"),
        ("another eNB", DOWNLINK, "corrupted"),
        ("altered payload", UPLINK, "corrupted"),
        ("altered payload", DOWNLINK, "corrupted"),
        ("another stream", UPLINK, "foreign"),
        ("wrong header checksum", UPLINK, "corrupted"),
        ("wrong header checksum", DOWNLINK, "corrupted"),
        ("wrong outer checksum", DOWNLINK, "corrupted"),
        ("optional fields", DOWNLINK, "foreign"),
        ("no outer checksum", DOWNLINK, None),
    ],
)
def test_a_wrong_frame_is_never_received(through_gateway, engine, fault, ways, kind):
    """Every tenth frame has the fault, and counts as what it is."""
    trial = through_gateway(40, fault, engine).trial(
        stack=stack(40), frame_sizes=[[128, 1]], directions=ways, **BOUNDED
    )
    sent = trial["directions"][0]["sent"]
    hits = sent // 10 if kind else 0
    expected = {"received": sent - hits, "lost": hits, "corrupted": 0, "reordered": 0, "duplicated": 0, "foreign": 0}
    assert seen(trial) == expected | ({kind: hits} if kind else {})
    assert sent >= 250


# Stretches of a frame, in order: how many bytes, and what a frame counts as when one of them is damaged.
ETHERNET = [(12, "received"), (2, "foreign")]
IPV4 = [(1, "foreign"), (8, "corrupted"), (1, "foreign"), (10, "corrupted")]
OUTERMOST = [(1, "foreign"), (5, "corrupted"), (2, "fragment"), (1, "corrupted"), *IPV4[2:]]
GTPU = [(2, "corrupted"), (2, "foreign"), (12, "corrupted")]
UDP_AND_PAYLOAD = [(8, "corrupted"), (4, "foreign"), (14, "corrupted")]


@pytest.mark.parametrize(
    ("ways", "size", "regions"),
    [
        (UPLINK, 64, [*ETHERNET, *OUTERMOST, *UDP_AND_PAYLOAD]),
        (DOWNLINK, 64, [*ETHERNET, *OUTERMOST, *GTPU, *IPV4, *UDP_AND_PAYLOAD]),
        pytest.param(
            *(DOWNLINK, 129, [*ETHERNET, *OUTERMOST, *GTPU, *IPV4, *UDP_AND_PAYLOAD, (65, "corrupted")]),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_every_damaged_byte_counts_as_what_it_is(through_gateway, engine, ways, size, regions):
    """One frame for each byte of what leaves the gateway, with that byte damaged."""
    generator = through_gateway(40, "flip", engine)
    assert sum(count for count, _ in regions) == size - 4 + (36 if ways == DOWNLINK else 0)
    for frames, kind in regions:
        keys = {**BOUNDED, "frames": frames, "directions": ways, "frame_sizes": [[size, 1]], "drain_ns": 150_000_000}
        counts = seen(generator.trial(stack=stack(40), **keys))
        found = {name: counts[name] for name in ("received", "corrupted", "foreign")}
        expected = {"received": 0, "corrupted": 0, "foreign": 0}
        if kind == "fragment":
            # DPDK's packet sockets have the kernel put fragments together: it waits for the others.
            expected["corrupted"] = frames if engine == "xdp" else 0
        else:
            expected[kind] = frames
        assert found == expected, (frames, kind)


def test_without_a_gateway_nothing_is_received(loop):
    """The other end gets every frame as it was sent: none is what the gateway should have made of it."""
    trial = loop.trial(duration_ns=100_000_000, rate_pps=1000, stack=stack(3))
    for number, direction in enumerate(trial["directions"]):
        counts = seen(trial, number)
        assert (counts["received"], counts["corrupted"]) == (0, direction["sent"])


def test_maximum_load(loop):
    """Frames of several sizes, as fast as they go: each has a length of its own, and comes to the other end."""
    trial = loop.trial(duration_ns=200_000_000, stack=stack(1000), frame_sizes=[[64, 7], [571, 4], [1482, 1]])
    for number, direction in enumerate(trial["directions"]):
        assert seen(trial, number)["corrupted"] == direction["sent"] > 1000


def test_after_bearers_plain_frames_are_plain_again(loop):
    loop.trial(duration_ns=20_000_000, rate_pps=1000, stack=stack(3))
    trial = loop.trial(duration_ns=20_000_000, rate_pps=1000)
    assert [d["received"] for d in trial["directions"]] == [d["sent"] for d in trial["directions"]]


@pytest.mark.parametrize(
    ("keys", "field", "limit"),
    [
        ({"frame_sizes": [[63, 1]]}, "frame_sizes", 64),
        ({"frame_sizes": [[1483, 1]]}, "frame_sizes", 1482),
        ({"flows": 5}, "flows", None),
        ({"stack": {"vlan": 5, "gtpu": table(2)}, "frame_sizes": [[100, 1]]}, "stack", None),
        ({"stack": {"gtpu": table(4097)}}, "gtpu", 4096),
    ],
)
def test_what_does_not_go_with_bearers_is_refused(loop, keys, field, limit):
    """Before anything is sent, by its name, with the limit where there is one."""
    answer = loop.call("start", **({"frames": 1, "stack": stack(2)} | keys))
    assert not answer["ok"]
    assert (answer["error"]["field"], answer["error"].get("limit")) == (field, limit)
