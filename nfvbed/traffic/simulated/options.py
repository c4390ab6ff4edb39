"""Options of the simulated system under test."""

from typing import Literal

from pydantic import Field

from nfvbed.records import PortKind
from nfvbed.spec.options import DataPlaneOptions


class SimulatedOptions(DataPlaneOptions):
    """A simulated system under test with a known answer. Never a measurement."""

    dataplane: Literal["simulated"]
    capacity_pps: float = Field(5_000_000, gt=0)
    """Aggregate frames/s of the 64 B class in the fast state, port to port; each VNF is one more crossing."""
    far_capacity_pps: float | None = Field(None, gt=0)
    """Capacity in the slow hidden state; None: there is one state."""
    state_change_per_s: float = Field(0.0, ge=0)
    """Mean changes of the hidden state a second."""
    vnf_capacity_pps: float = Field(4_000_000, gt=0)
    """Capacity of each VNF alone, whatever the hidden state."""
    noise: float = Field(0.015, ge=0, lt=1)
    """Relative standard deviation of a trial's capacity."""
    byte_cost: float = Field(0.0, ge=0)
    """Relative loss of capacity per byte above 64."""
    burst_probability_per_s: float = Field(0.0, ge=0)
    """Chance per second that a burst of frames is lost."""
    burst_max_frames: int = Field(50, ge=1)
    """Most frames of such a burst."""
    warm_up_s: float = Field(0.0, ge=0)
    """Seconds of traffic until it is warm."""
    cold_share: float = Field(0.0, ge=0, lt=1)
    """Relative loss of capacity until then."""
    hysteresis: float = Field(0.0, ge=0, lt=1)
    """Relative loss of capacity after a trial above capacity, until load below it has lasted `recovery_s`."""
    recovery_s: float = Field(0.0, ge=0)
    """Seconds of load below capacity until it has recovered."""
    buffer_frames: int | None = Field(None, ge=0)
    """Frames that it holds of a burst until it has forwarded them, each direction; what exceeds them is lost.
    None: a full ring holds the generator back, and nothing is lost."""
    congestion_s: float = Field(0.0, ge=0)
    """Seconds after an overload within a trial in which it goes on losing every second frame."""
    outage_s: float = Field(1.0, gt=0)
    """Seconds that a reset lasts."""
    largest_frame: int | None = Field(None, ge=64, exclude_if=lambda value: value is None)
    """Bytes of the largest frame that it forwards, FCS included; longer ones are lost, all of them. None: no limit."""
    late_share: float = Field(0.0, ge=0, lt=1, exclude_if=lambda value: not value)
    """Part of the frames of a given load that the generator is too late to send."""
    latency_ns: float = Field(5_000, gt=0)
    """Latency of a frame below capacity."""
    flow_cache: int | None = Field(None, ge=1)
    """Flows that a cache holds; a frame of another one costs more. None: every flow is as good as another."""
    flow_miss_cost: float = Field(0.0, ge=0)
    """Additional cost of such a frame, in crossings of the switch."""
    entry_cost: float = Field(0.0, ge=0)
    """Additional cost of a frame, in crossings, for ten times the table entries."""
    mac_table_size: int | None = Field(None, ge=2)
    """Addresses that it can learn, the test port's own among them; None: no limit."""
    learning_rate_pps: float | None = Field(None, gt=0)
    """New addresses a second that it learns; of more a part is missed. None: all."""
    stolen_share: float = Field(0.0, ge=0, lt=0.95)
    """Part of all time in which it has no core; what comes then beyond a ring is refused."""
    stall_s: float = Field(0.003, gt=0, le=1)
    """Mean length of such a time, s."""
    stolen_by: Literal["host", "load"] = "host"
    """Cause: the host by itself, or the load, so that a heavier one is stalled more often."""
    steal_step_s: float = Field(0.0, ge=0, le=1)
    """Steps in which the simulated host counts that time, s; 0: exactly."""
    seed: int = 1
    """Seed of its random numbers."""

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """Any: it attaches nothing, and can stand for whatever is."""
        return (PortKind.SIMULATED, *(kind for kind in PortKind if kind is not PortKind.SIMULATED))

    @property
    def is_simulated(self) -> bool:
        """True: nothing of it was measured."""
        return True
