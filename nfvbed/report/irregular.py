"""What each reason for an irregular search result means and what can be done; shown wherever the reason is."""

from typing import Final

from nfvbed.compare.advice.advice import Advice
from nfvbed.search.stop import Irregularity

ADVICE: Final[dict[Irregularity, Advice]] = {
    Irregularity.NOTHING_CAME_BACK: Advice(
        meaning="None of the frames that were sent came back: the path is broken for them, and nothing was measured.",
        remedy="Find the hop that loses them: nfvbed trace VARIANT --topology TOPOLOGY --frame-size BYTES.",
    ),
    Irregularity.GENERATOR_LIMITED: Advice(
        meaning="The generator had nothing left: the data plane can do at least this much, and this is no throughput.",
        remedy="Give the generator more cores or a faster port kind, or read the lower bound as what it is.",
    ),
    Irregularity.GENERATOR_DISTURBED: Advice(
        meaning="Something kept the generator from its core: trial after trial is void, or its late frames alone decide"
        " a bound.",
        remedy="Stop other work on the host or isolate the generator's core, and search again. Where it has no core for"
        " itself, as beside VNFs on kernel ports of two cores, take a loss curve (kind: loss-curve), or search below"
        " what the generator sends there (max_load_pps).",
    ),
    Irregularity.SYSTEM_DISTURBED: Advice(
        meaning="The data plane's threads were kept from their cores in trial after trial: they say nothing of the"
        " data plane.",
        remedy="Stop other work on the host, isolate the switch's core, or search on a host whose hypervisor leaves"
        " the machine its cores.",
    ),
    Irregularity.LOSS_AT_LEAST: Advice(
        meaning="A trial counted more frames back than were sent. The path doubles frames, and at any load they may"
        " hide as many lost ones: loss is at least what was counted, and this is no throughput.",
        remedy="Remove what doubles frames (flooding, a mirror, a loop), or search with nfvgen (engine: nfvgen), whose"
        " frames have numbers.",
    ),
    Irregularity.VOID_TRIALS: Advice(
        meaning="So many trials were void, or so many more at one bound than at the other, that those which count are"
        " no fair choice.",
        remedy="Stop other work on the host or isolate the cores, and search again; or search as delivered"
        " (trials: all), at least five times, and give the range.",
    ),
    Irregularity.MAX_LOAD: Advice(
        meaning="The goal is reached at the largest load that was asked for: a lower bound.",
        remedy="Raise max_load_pps, or leave it out so that the generator's ceiling counts.",
    ),
    Irregularity.MIN_LOAD: Advice(
        meaning="The goal is missed at the smallest load already.",
        remedy="Lower min_load_pps; nfvbed trace VARIANT --topology TOPOLOGY --frame-size BYTES shows where frames are"
        " lost at almost no load.",
    ),
    Irregularity.WIDE: Advice(
        meaning="The search found no load between its bounds that it could still try.",
        remedy="Give the goal a greater relative_width, or longer trials.",
    ),
    Irregularity.TIME_LIMIT: Advice(
        meaning="The time was over before the bounds were close enough; those found so far are given.",
        remedy="Raise time_limit_s, or take a quicker preset.",
    ),
    Irregularity.PLACEMENT_LOST: Advice(
        meaning="The placement class of the search did not come back in time; the bounds found so far are given.",
        remedy="Raise placement_wait_s, repeat, or use a bare-metal host.",
    ),
    Irregularity.PLACEMENT_UNSTABLE: Advice(
        meaning="The cores change their distance faster than trials last: no trial is sure to lie in one class.",
        remedy="Take a preset with shorter trials (csit, csit-quick), or use a bare-metal host.",
    ),
}
