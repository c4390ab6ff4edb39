"""Who sits on which core: one object, used by every deployment and stored with every result."""

from nfvbed.records import Record


class Arrangement(Record):
    """A fair arrangement: the switch has its cores, the generator its own; nothing else is pinned to either."""

    switch_cores: tuple[int, ...]
    generator_core: int
    control_cores: tuple[int, ...]
    """Where management threads (OVS main, DPDK main lcore, nfvbed itself) may run.

    Never the core of the switch where there is a choice.
    """
