"""The warnings about a measurement: a closed list, stored with results and shown wherever their numbers are shown.

What each means and what can be done about it is in `nfvbed/compare/advice/advice.py`.
"""

from enum import StrEnum


class QualityWarning(StrEnum):
    """A warning about a measurement, stored with it and shown wherever its number is shown."""

    GENERATOR_LIMITED = "generator-limited"
    PORT_LIMITED = "port-limited"
    VNF_LIMITED = "vnf-limited"
    WIRE_LIMITED = "wire-limited"
    EMULATED_ACCELERATOR = "emulated-accelerator"
    PLACEMENT_CHANGED = "placement-changed"
    REORDERED = "reordered"
    DUPLICATED = "duplicated"
    LOSS_AT_LEAST = "loss-at-least"
    CORRUPTED = "corrupted"
    UNSENT = "unsent"
    CPU_STOLEN = "cpu-stolen"
    CORE_SLOWED = "core-slowed"
    FREQUENCY_CHANGED = "frequency-changed"
    THERMAL_THROTTLING = "thermal-throttling"
    WRONG_NUMA_NODE = "wrong-numa-node"
    HUGEPAGES_SHORT = "hugepages-short"
    OFFLOADS_ON = "offloads-on"
    UNSTABLE = "unstable"
    TOO_FEW_REPETITIONS = "too-few-repetitions"
    CORES_SHARED = "cores-shared"
    SINGLE_FLOW = "single-flow"
    RECONNECTED = "reconnected"
    FRAMES_UNCHECKED = "frames-unchecked"
    SINK_MISSED = "sink-missed"
    SIMULATED = "simulated"
