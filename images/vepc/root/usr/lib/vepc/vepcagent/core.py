"""A guest of the core: all of subscriber store, HSS, PCRF, SGW, PGW and MME, or those of them that the user data names.

They are started one after the other, each when it finds there what it asks when it starts, in this guest or another.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from agent.program import run
from agent.refusal import Refusal

from nfvbed.vnfs.epc.configuration import ORDER, SAYS_WHEN_UP, STORE_PORT, Addresses, NextepcPaths, rendered
from nfvbed.vnfs.epc.subscribers import PLMN
from vepcagent import network, peers
from vepcagent.console import last_of, say
from vepcagent.given import Given
from vepcagent.sims import subscribers

FUNCTIONS = {"mme", *ORDER}
_TUN = "pgwtun"
_RUN, _LIBRARIES = Path("/run/vepc"), Path("/usr/lib/nextepc")
_START_S = 900.0
"""For one function to come up on an emulated processor; an idle host takes 3 s, a busy one ten times as long. Those
that speak Diameter are up when their peers have answered, which may be in guests that boot later."""
_LOOK_S, _WATCH_S = 0.3, 2.0
_STORE_READY = "nfvbed-store: ready"
_ENVIRONMENT = {"MONGOC_DISABLE_SHM": "1"}
_GATEWAYS = ("sgw", "pgw")
_ASKS = {
    "hss": (("store", "hss"), ("s6a", "hss"), ("s6a", "mme")),
    "pcrf": (("store", "hss"), ("gx", "pcrf"), ("gx", "pgw")),
    "sgw": (("gtp-c", "sgw"), ("s1-u", "sgw")),
    "pgw": (("gtp-c", "pgw"), ("s5-u", "pgw"), ("gx", "pgw"), ("gx", "pcrf"), ("sgi", "igw")),
    "mme": (("s1-mme", "mme"), ("gtp-c", "mme"), ("gtp-c", "sgw"), ("gtp-c", "pgw"), ("s6a", "mme"), ("s6a", "hss")),
}
"""Addresses that a function's configuration has: whose, on which link."""


class Core:
    """The functions of this guest.

    Args:
        given: the user data.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._shown: list[socket.socket] = []

    def run(self) -> None:
        """Start all of them, then watch them; returns when one has ended.

        Raises:
            Refusal: one does not come up, or has ended.
        """
        began = time.monotonic()
        held = [one for one in ORDER if one in self._given.functions]
        if "mme" in held:
            self._given.require("mme.plmn", PLMN)
            self._given.require("mme.tac", "1")
        addresses = addresses_of(self._given)
        self._connect(addresses)
        _RUN.mkdir(mode=0o700, exist_ok=True)
        for function in held:
            self._await_peers(function, addresses)
            if function == "hss":
                self._start_store()
            self._start(function, addresses)
            if function in _GATEWAYS:
                self._shown.append(peers.show_up(addresses.gtpc[function]))
        say(f"functions up: {' '.join(self._processes)} after {time.monotonic() - began:.1f} s")
        while True:
            time.sleep(_WATCH_S)
            for name in self._processes:
                self._require_alive(name)

    def _connect(self, addresses: Addresses) -> None:
        run("modprobe", "-a", "crc32c_generic", "sctp", "tun")
        cards = network.devices(self._given)
        network.allow_routing()
        for name in sorted(self._given.ports):
            port = self._given.ports[name]
            if port.link in cards:
                network.address(cards[port.link], str(port))
            else:
                # A link within the guest is no network: its ends are addresses of the guest.
                network.ip(f"addr add {port.address}/32 dev lo")
        if "pgw" in self._given.functions:
            self._lead_ues(addresses, cards)

    def _lead_ues(self, addresses: Addresses, cards: Mapping[str, str]) -> None:
        """Make the PDN gateway's device of UEs, its way to the Internet, and its way to another guest's SGW."""
        network.ip(f"route add default via {addresses.dns}")
        network.ip(f"tuntap add dev {_TUN} mode tun")
        network.address(_TUN, addresses.ues)
        if "s5-u" in cards:
            # The SGW has one address for S1-U and S5-U, that of S1-U: the way to it is that of S5-U all the same.
            network.ip(f"route add {self._given.setting('pgw.sgw')}/32 via {self._given.peer('s5-u.sgw')}")

    def _await_peers(self, function: str, addresses: Addresses) -> None:
        """Wait for another guest's store or gateways; those that speak Diameter wait for their peers themselves."""
        if function == "pcrf":
            peers.wait_for("store", addresses.store, STORE_PORT)
        if function == "mme":
            for gateway in _GATEWAYS:
                if gateway not in self._processes:
                    peers.wait_for(gateway, addresses.gtpc[gateway], peers.GTPC_PORT)

    def _start_store(self) -> None:
        known = _RUN / "subscribers.json"
        known.touch(mode=0o600)
        sims = subscribers(self._given.seed, self._given.setting("hss.apn"))
        known.write_text(json.dumps([one.model_dump() for one in sims]))
        where = self._given.port("hss.store").address
        argv = [sys.executable, "-s", "-S", "-m", "nfvbed.vnfs.epc.store", where, str(STORE_PORT), str(known)]
        self._spawn("store", argv)
        self._wait("store", _STORE_READY)

    def _start(self, function: str, addresses: Addresses) -> None:
        file = _RUN / f"{function}.yml"
        file.write_text(rendered(function, NextepcPaths(_LIBRARIES, _log(function)), addresses))
        self._spawn(function, [f"/usr/bin/nextepc-{function}d", "-f", str(file), "-p", str(_RUN / f"{function}.pid")])
        self._wait(function, SAYS_WHEN_UP[function])

    def _spawn(self, name: str, argv: list[str]) -> None:
        # nextepc writes its log by itself; what it prints beside goes there too.
        with _log(name).open("ab") as log:
            self._processes[name] = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | _ENVIRONMENT
            )

    def _wait(self, name: str, words: str) -> None:
        deadline = time.monotonic() + _START_S
        while words not in _log(name).read_text(errors="replace"):
            self._require_alive(name)
            if time.monotonic() > deadline:
                raise Refusal(f"the {name} does not come up within {_START_S:g} s", observed=_end_of(name))
            time.sleep(_LOOK_S)

    def _require_alive(self, name: str) -> None:
        status = self._processes[name].poll()
        if status is not None:
            raise Refusal(f"the {name} has ended with status {status}", observed=_end_of(name))


def addresses_of(given: Given) -> Addresses:
    """Return where the functions of this guest are, and those that they ask.

    Raises:
        Refusal: the user data lacks an address.
    """
    found: dict[tuple[str, str], str] = {}
    for function in ORDER:
        if function in given.functions:
            found |= {(link, whose): given.at(link, whose) for link, whose in _ASKS[function]}

    def on(link: str) -> dict[str, str]:
        return {whose: address for (name, whose), address in found.items() if name == link}

    return Addresses(
        store=on("store").get("hss", ""),
        diameter=on("s6a") | on("gx"),
        gtpc=on("gtp-c"),
        gtpu=on("s1-u") | on("s5-u"),
        s1ap=on("s1-mme").get("mme", ""),
        ues=given.setting("pgw.ue-pool") if "pgw" in given.functions else "",
        tun=_TUN,
        dns=on("sgi").get("igw", ""),
    )


def _log(name: str) -> Path:
    return _RUN / f"{name}.log"


def _end_of(name: str) -> str:
    return last_of(_log(name).read_text(errors="replace").splitlines()[-6:])
