"""What each warning about a measurement means and what can be done; shown wherever the warning is.

These are the general words. What can be done depends on what was done: `remedies.py` knows that.
"""

from typing import Final

from nfvbed.records import QualityWarning, Record


class Advice(Record):
    """A warning in plain words."""

    meaning: str
    remedy: str


ADVICE: Final[dict[QualityWarning, Advice]] = {
    QualityWarning.GENERATOR_LIMITED: Advice(
        meaning="The generator, not the data plane, set the rate; the data plane can do at least this much.",
        remedy="Give the generator more cores or a faster port kind, or read the row as a lower bound.",
    ),
    QualityWarning.PORT_LIMITED: Advice(
        meaning="The rate is that of testpmd forwarding on the same ports in the same way: the ports set it.",
        remedy="Use another port kind or more queues to see more of the switch; read the row as a lower bound.",
    ),
    QualityWarning.VNF_LIMITED: Advice(
        meaning="The rate is that of the VNF looped back alone: the VNF set it.",
        remedy="Use a lighter VNF (testpmd io) or give it more cores; read the row as a lower bound.",
    ),
    QualityWarning.WIRE_LIMITED: Advice(
        meaning="The link is full: the rate is line rate.",
        remedy="Use a smaller frame size or a faster link to see the data plane's own limit.",
    ),
    QualityWarning.EMULATED_ACCELERATOR: Advice(
        meaning="A guest ran under software emulation: frame counts hold, rates mean nothing.",
        remedy="Repeat on a host whose KVM boots guests.",
    ),
    QualityWarning.PLACEMENT_CHANGED: Advice(
        meaning="The cores moved nearer to or farther from each other during a trial; it is kept but not used.",
        remedy="Nothing where other trials are enough; else allow more rounds, or use a bare-metal host.",
    ),
    QualityWarning.REORDERED: Advice(
        meaning="Frames arrived in another order than they were sent.",
        remedy="Look for several queues or cores on the path, and whether the application bears it.",
    ),
    QualityWarning.DUPLICATED: Advice(
        meaning="Frames arrived more than once; what came beyond what was sent is never counted in the rate.",
        remedy="Look for flooding: a switch that has not learnt an address, a mirror, or a loop.",
    ),
    QualityWarning.LOSS_AT_LEAST: Advice(
        meaning="More frames were counted back than were sent. Counts alone cannot tell a lost frame from a doubled one"
        " in the same direction: the loss is at least the one given, the rate at most, and neither decides anything.",
        remedy="Remove what doubles frames (flooding, a mirror, a loop; `nfvbed trace` counts along the path), or count"
        " with nfvgen (`engine: nfvgen`), whose frames have numbers.",
    ),
    QualityWarning.CORRUPTED: Advice(
        meaning="Frames arrived with a changed payload; they count as lost.",
        remedy="Do not trust the row; check offloads and the VNF's forwarding mode.",
    ),
    QualityWarning.UNSENT: Advice(
        meaning="Some frames could not be sent at their due time, so the offered load was below the intended one.",
        remedy="Lower the load, or check what else ran on the generator's core.",
    ),
    QualityWarning.CPU_STOLEN: Advice(
        meaning="The measuring threads were kept waiting for their cores.",
        remedy="Stop other work on the host, isolate the cores, or measure more repetitions.",
    ),
    QualityWarning.CORE_SLOWED: Advice(
        meaning="Before or after a trial a core took at least 1.15 times as long over a fixed piece of work as it can: "
        "another thread works on its sibling hyperthread (on a virtual machine a neighbour's), or its clock is lower.",
        remedy="Leave the siblings of the working cores idle, or switch hyperthreading off; on a virtual machine take "
        "whole cores, or more rounds. The core's times are in each trial's record (core_pace).",
    ),
    QualityWarning.FREQUENCY_CHANGED: Advice(
        meaning="The clock of a working core changed by more than 3 %, within a trial or from one to the next.",
        remedy="Set the governor to performance and switch turbo off, then measure again.",
    ),
    QualityWarning.THERMAL_THROTTLING: Advice(
        meaning="A working core was slowed by heat during a trial.",
        remedy="See to the machine's cooling, or fix a lower clock, then measure again.",
    ),
    QualityWarning.WRONG_NUMA_NODE: Advice(
        meaning="Working cores, their hugepages or the NIC are on different NUMA nodes: frames cross between sockets.",
        remedy="Put cores, hugepages and NIC on one node: name the cores in the site's file (arrangement).",
    ),
    QualityWarning.HUGEPAGES_SHORT: Advice(
        meaning="There were fewer hugepages than asked for; the data plane or the generator ran with less memory.",
        remedy="Have more pages of 2 MiB: nfvbed doctor prints the command, for this host's sizes and nodes, and who "
        "holds them; at boot it is hugepagesz=2M hugepages=N. Or lower hugepages_mib of the variant.",
    ),
    QualityWarning.OFFLOADS_ON: Advice(
        meaning="A raw-Ethernet VNF is on ports with checksum offload. The generator's frames come through, and those "
        "of a stack would be dropped by their receiver.",
        remedy="Turn offloads off on the VNF's ports (`offloads: false`, --no-offloads), and read the rate as one of "
        "complete frames.",
    ),
    QualityWarning.UNSTABLE: Advice(
        meaning="The rates of one placement class scatter by more than the experiment's bound (repetitions.max_spread: "
        "interquartile range over median).",
        remedy="Measure longer trials and more of them; look at what else runs.",
    ),
    QualityWarning.TOO_FEW_REPETITIONS: Advice(
        meaning="Fewer rounds than a verdict, or the experiment, asks for: the interval is wide, or only a range.",
        remedy="Run again with more rounds or a longer time limit.",
    ),
    QualityWarning.CORES_SHARED: Advice(
        meaning="Threads of several roles ran on one core, so each had only a part of it.",
        remedy="Use a host with a core for each role; until then compare only rows with the same arrangement.",
    ),
    QualityWarning.SINGLE_FLOW: Advice(
        meaning="One flow was sent, and the switch has several polling threads: a flow stays on one queue, so the"
        " others had nothing to do.",
        remedy="Send more flows than there are threads (traffic.flows), or compare with one thread.",
    ),
    QualityWarning.RECONNECTED: Advice(
        meaning="The connection to the generator's host was lost during a trial and came back. The generator "
        "counted on; CPU times and the switch's counters were read after the trial's end.",
        remedy="See to the network between the hosts; frame counts and latency hold, costs per packet do not.",
    ),
    QualityWarning.FRAMES_UNCHECKED: Advice(
        meaning="The generator (TRex) counts the frames that come back, and looks neither at their order nor at their"
        " contents: reordered and corrupted ones, and doubled ones below what was sent, are not known, and there is no"
        " latency.",
        remedy="Use nfvgen (`engine: nfvgen`) where these matter.",
    ),
    QualityWarning.SINK_MISSED: Advice(
        meaning="Frames came back, and the generator's own port (TRex's) dropped them on arrival: they count as lost,"
        " and the path did not lose them. How many is in the trial's `missed_frames`.",
        remedy="Give TRex more or faster cores, or send less; a loss that is no larger than `missed_frames` is the"
        " generator's.",
    ),
    QualityWarning.SIMULATED: Advice(
        meaning="The numbers come from a simulated system with a known answer. They are not a measurement.",
        remedy="Run a real variant.",
    ),
}


def advice_for(kind: QualityWarning) -> Advice:
    """Return the advice that belongs to a warning, whatever was done."""
    return ADVICE[kind]
