"""The core's guest: subscriber store, HSS, PCRF, SGW, PGW and MME, started one after the other."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from agent.program import run
from agent.refusal import Refusal

from nfvbed.vnfs.epc.configuration import ORDER, SAYS_WHEN_UP, STORE_PORT, Addresses, Installed, rendered
from nfvbed.vnfs.epc.subscribers import PLMN
from vepcagent import network
from vepcagent.console import last_of, say
from vepcagent.given import Given
from vepcagent.sims import subscribers

HOLDS = {"mme", *ORDER}
_TUN = "pgwtun"
_RUN, _LIBRARIES = Path("/run/vepc"), Path("/usr/lib/nextepc")
_START_S = 240.0
"""For one function to come up on an emulated processor; an idle host takes 3 s, a busy one ten times as long."""
_LOOK_S, _WATCH_S = 0.3, 2.0
_STORE_READY = "nfvbed-store: ready"
_ENVIRONMENT = {"MONGOC_DISABLE_SHM": "1"}


class Core:
    """The functions of this guest.

    Args:
        given: the user data.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self) -> None:
        """Start all of them, then watch them; returns when one has ended.

        Raises:
            Refusal: one does not come up, or has ended.
        """
        began = time.monotonic()
        self._given.require("mme.plmn", PLMN)
        self._given.require("mme.tac", "1")
        self._connect()
        addresses = addresses_of(self._given)
        self._start_store()
        for function in ORDER:
            self._start(function, addresses)
        say(f"functions up: {' '.join(self._processes)} after {time.monotonic() - began:.1f} s")
        while True:
            time.sleep(_WATCH_S)
            for name in self._processes:
                self._require_alive(name)

    def _connect(self) -> None:
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
        network.ip(f"route add default via {self._given.peer('sgi.igw')}")
        network.ip(f"tuntap add dev {_TUN} mode tun")
        network.address(_TUN, self._given.setting("pgw.ue-pool"))

    def _start_store(self) -> None:
        _RUN.mkdir(mode=0o700, exist_ok=True)
        known = _RUN / "subscribers.json"
        known.touch(mode=0o600)
        sims = subscribers(self._given.seed, self._given.setting("pgw.apn"))
        known.write_text(json.dumps([one.model_dump() for one in sims]))
        where = self._given.port("hss.store").address
        argv = [sys.executable, "-s", "-S", "-m", "nfvbed.vnfs.epc.store", where, str(STORE_PORT), str(known)]
        self._spawn("store", argv)
        self._wait("store", _STORE_READY)

    def _start(self, function: str, addresses: Addresses) -> None:
        file = _RUN / f"{function}.yml"
        file.write_text(rendered(function, Installed(_LIBRARIES, _log(function)), addresses))
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
    """Return where the functions of the core are."""
    port = {name: one.address for name, one in given.ports.items()}
    for name in ("mme.s1-mme", "mme.s11", "mme.s6a", "hss.s6a", "pcrf.gx", "sgw.s11", "sgw.s1-u"):
        given.port(name)
    for name in ("pgw.gx", "pgw.s5-c", "pgw.s5-u", "hss.store"):
        given.port(name)
    return Addresses(
        store=port["hss.store"],
        diameter={"hss": port["hss.s6a"], "mme": port["mme.s6a"], "pcrf": port["pcrf.gx"], "pgw": port["pgw.gx"]},
        gtpc={"mme": port["mme.s11"], "sgw": port["sgw.s11"], "pgw": port["pgw.s5-c"]},
        gtpu={"sgw": port["sgw.s1-u"], "pgw": port["pgw.s5-u"]},
        s1ap=port["mme.s1-mme"],
        ues=given.setting("pgw.ue-pool"),
        tun=_TUN,
        dns=given.peer("sgi.igw"),
    )


def _log(name: str) -> Path:
    return _RUN / f"{name}.log"


def _end_of(name: str) -> str:
    return last_of(_log(name).read_text(errors="replace").splitlines()[-6:])
