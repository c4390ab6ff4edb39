"""The DPDK gateway's own counts of a trial: the cycles of its rounds with frames, and those frames.

To the scheduler a loop that polls is always busy.
"""

from nfvbed.records.results import MeasuredRow, Quantity
from nfvbed.vnfs.gateway.client import GatewayClient, GatewayCounts

SOURCE = "rounds of the gateway in which frames came"


class GatewayReader:
    """Reads a gateway's counters around a trial."""

    def __init__(self, client: GatewayClient) -> None:
        self._client = client
        self._looks: list[GatewayCounts] = []

    def start(self) -> None:
        """Read the counters.

        Raises:
            OnboardError: the gateway does not answer.
        """
        self._looks = [self._client.counters()]

    def stop(self) -> None:
        """Read the counters again.

        Raises:
            OnboardError: the gateway does not answer.
        """
        self._looks.append(self._client.counters())

    def rows(self) -> tuple[MeasuredRow, ...]:
        """Return one row: cycles for each received frame; none where no cycles are counted."""
        before, after = self._looks
        if before.busy_cycles is None or after.busy_cycles is None:
            return ()
        spent = after.busy_cycles - before.busy_cycles
        packets = sum(port.received for port in after.ports) - sum(port.received for port in before.ports)
        cycles = Quantity(name="cycles", value=spent / packets if packets else None, unit="cycles/packet")
        parameters: dict[str, str | int | float] = {
            "packets": "received on the gateway's ports",
            "received": packets,
            "busy_cycles": spent,
            "cycles_from": SOURCE,
        }
        reason = "" if packets else "no packets"
        return (
            MeasuredRow(label=f"{after.gateway} gateway", parameters=parameters, quantities=(cycles,), reason=reason),
        )
