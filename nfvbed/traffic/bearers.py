"""A generator whose trials all go over the bearers of a mobile core, whatever asks for them."""

from dataclasses import replace

from nfvbed.errors import ConfigurationError
from nfvbed.records import Sessions
from nfvbed.traffic.generator import PLAIN, BearerPath, Generator, GeneratorInfo, TrafficRequest, TrafficResult
from nfvbed.units import GTPU_BYTES


class BearerGenerator(Generator):
    """Another generator, whose port 0 acts as an eNB on S1-U and port 1 as a server on SGi.

    Searches, loss curves, latency and traces need not know of it: sizes are those on SGi, and flows are bearers.

    Args:
        inner: open on the two ports; closed with this one.
        path: the bearers; may be replaced between trials, as UEs attach and detach.
    """

    def __init__(self, inner: Generator, path: BearerPath) -> None:
        self._inner = inner
        self.path = path
        self.ports = inner.ports

    def hello(self) -> GeneratorInfo:
        """Return the generator's description; its largest frame fits S1-U too, its flows are the bearers."""
        info = self._inner.hello()
        return replace(
            info,
            max_frame_size_bytes=info.max_frame_size_bytes - GTPU_BYTES,
            max_flows=len(self.path.table.bearers),
        )

    def run(self, request: TrafficRequest) -> TrafficResult:
        """Run one trial over the bearers.

        Raises:
            ConfigurationError: the request has headers, flows or addresses that bearers do not leave to be chosen.
            GeneratorError: as the generator's.
        """
        self._require_free_choice(request)
        return self._inner.run(replace(request, bearers=self.path))

    def wait_until_ready(self) -> None:
        """Wait until the generator can be asked.

        Raises:
            GeneratorError: as the generator's.
        """
        self._inner.wait_until_ready()

    def close(self) -> None:
        """End the generator; idempotent."""
        self._inner.close()

    def _require_free_choice(self, request: TrafficRequest) -> None:
        count = len(self.path.table.bearers)
        found = [
            (request.ip != 4, f"IPv{request.ip}", "bearers are IPv4: traffic: {ip: 4}"),
            (request.vlan is not None, f"VLAN tag {request.vlan}", "leave the tag out"),
            (request.sessions is Sessions.MIRRORED, "mirrored sessions", "traffic: {sessions: unreplied}"),
            (request.addressing != PLAIN, f"{request.addressing}", "addresses are the bearers' own: leave them out"),
            (request.flows not in (1, count), f"{request.flows} flows", f"flows are the bearers: 1 or {count}"),
        ]
        for wrong, observed, fix in found:
            if wrong:
                raise ConfigurationError(
                    f"this traffic does not go over the {count} bearers of a mobile core",
                    where=f"S1-U from {self.path.table.enb} to {self.path.table.sgw}",
                    observed=observed,
                    fix=fix,
                )
