"""What the agent can do, by the request's `do`."""

from collections.abc import Callable

from agent import ethtool, guest, netperf, sysbench
from agent import request as requests
from agent.kernel import KernelForwarder, give_addresses, lead, take_addresses
from agent.ports import Port, choose
from agent.refusal import Refusal
from agent.servers import Servers, listens
from agent.testpmd import Testpmd
from agent.tools import Tools

MOST_PORTS = 2


class Service:
    """The guest's state: its ports, one forwarder, its servers and tools."""

    def __init__(self, ports: list[Port]) -> None:
        self.ports = ports
        self.powers_off = False
        self._forwarder: Testpmd | KernelForwarder | None = None
        self._paused: dict | None = None
        self._servers = Servers()
        self._tools = Tools()
        self._does: dict[str, Callable[[dict], dict]] = {
            "info": self._info,
            "links": self._links,
            "forward": self._forward,
            "stats": self._stats,
            "offloads": self._offloads,
            "channels": self._channels,
            "serve": self._serve,
            "netperf": self._netperf,
            "lead": self._lead,
            "start": self._tools.start,
            "wait": self._tools.wait,
            "end": self._tools.end,
            "read": self._tools.read,
            "remove": self._tools.remove,
            "listens": self._listens,
            "queues": self._queues,
            "sysbench": sysbench.run,
            "pause": self._pause,
            "resume": self._resume,
            "stop": self._stop,
            "poweroff": self._poweroff,
        }

    def answer(self, document: dict) -> dict:
        """Do what a request asks and return the result.

        Raises:
            Refusal: it cannot be done.
        """
        action = self._does.get(str(document.get("do")))
        if action is None:
            raise Refusal(
                "the agent cannot do this", observed=repr(document.get("do")), fix=f"one of {', '.join(self._does)}"
            )
        return action(document)

    def _info(self, document: dict) -> dict:
        requests.keys(document, {})
        return guest.describe()

    def _links(self, document: dict) -> dict:
        requests.keys(document, {})
        return {"ports": [port.describe() for port in self.ports]}

    def _forward(self, document: dict) -> dict:
        return self._start(requests.forward(document))

    def _start(self, request: dict) -> dict:
        one = request["mode"] in ("source", "sink")
        self._end_forwarding()
        ports = choose(self.ports, request["ports"], 1 if one and request["ports"] is None else MOST_PORTS)
        if len(ports) < 2 and request["mode"] in ("bridge", "router"):
            raise Refusal(f"a {request['mode']} needs two ports", observed=f"{len(ports)}")
        kind = Testpmd if request["mode"] in requests.TESTPMD_MODES else KernelForwarder
        forwarder = kind(ports, request)
        try:
            started = forwarder.start()
        except BaseException:
            forwarder.stop()
            raise
        self._forwarder, self._paused = forwarder, None
        return started

    def _stats(self, document: dict) -> dict:
        requests.keys(document, {})
        if self._forwarder is None:
            raise Refusal("nothing forwards", fix="forward first")
        return {"mode": self._forwarder.request["mode"], "ports": self._forwarder.stats()}

    def _offloads(self, document: dict) -> dict:
        found = requests.keys(document, {**dict.fromkeys(ethtool.OFFLOADS, bool), "ports": list})
        refusals = []
        for port in self._of_kernel(found):
            for key in ethtool.in_order(found):
                try:
                    ethtool.switch(port.name, key, found[key])
                except Refusal as refusal:
                    refusals.append(refusal)
        if refusals:
            raise refusals[0]
        return {"ports": [port.describe() for port in self.ports]}

    def _channels(self, document: dict) -> dict:
        found = requests.keys(document, {"combined": int, "ports": list})
        if found.get("combined", 0) < 1:
            raise Refusal("channels needs combined, at least 1", observed=repr(found.get("combined")))
        for port in self._of_kernel(found):
            ethtool.set_channels(port.name, found["combined"])
        return {"ports": [port.describe() for port in self.ports]}

    def _of_kernel(self, found: dict) -> list[Port]:
        """Return the chosen ports; those that DPDK has taken have no such settings."""
        ports = choose(self.ports, found.get("ports"), len(self.ports))
        for port in ports:
            if not port.name:
                raise Refusal(
                    "the kernel does not drive this port", where=port.mac, observed=port.driver, fix="stop first"
                )
        return ports

    def _serve(self, document: dict) -> dict:
        found = requests.keys(document, {"tool": str, "port": int, "addresses": list, "ports": list})
        if found.get("addresses"):
            give_addresses(self._of_kernel(found), found["addresses"])
        return self._servers.start(found.get("tool", ""), found.get("port"))

    def _netperf(self, document: dict) -> dict:
        found = netperf.request(document)
        if found["addresses"]:
            give_addresses(self._of_kernel(found), found["addresses"])
        return netperf.run(found)

    def _lead(self, document: dict) -> dict:
        found = requests.lead(document)
        for port in self._of_kernel(found):
            lead(port, found)
        return {"ports": [port.describe() for port in self.ports]}

    def _listens(self, document: dict) -> dict:
        return {"listens": listens(requests.keys(document, {"port": int}).get("port", 0))}

    def _queues(self, document: dict) -> dict:
        found = requests.keys(document, {"ports": list})
        return {"ports": [{"mac": port.mac, **ethtool.queue_packets(port.name)} for port in self._of_kernel(found)]}

    def _pause(self, document: dict) -> dict:
        """End forwarding so that it can go on as it was; what is paused already stays so."""
        requests.keys(document, {})
        if self._forwarder is not None:
            self._paused = self._forwarder.request
            self._end_forwarding()
        return {"forwarding": self._paused is not None}

    def _resume(self, document: dict) -> dict:
        requests.keys(document, {})
        self._servers.stop()
        self._tools.stop()
        if self._paused is None:
            return {}
        for port in self.ports:
            take_addresses(port)
        # What fails to start stays paused, and can be tried again.
        return self._start(self._paused)

    def _stop(self, document: dict) -> dict:
        requests.keys(document, {})
        self._servers.stop()
        self._tools.stop()
        self._end_forwarding()
        self._paused = None
        return {}

    def _poweroff(self, document: dict) -> dict:
        requests.keys(document, {})
        self.powers_off = True
        return {}

    def _end_forwarding(self) -> None:
        forwarder, self._forwarder = self._forwarder, None
        if forwarder is not None:
            forwarder.stop()
