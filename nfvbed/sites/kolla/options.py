"""Which options of a variant mean something in a cloud, and which are refused: none is left out without a word."""

from nfvbed.errors import UnsupportedError
from nfvbed.spec.variant import Variant

_THREADS = frozenset(
    {
        "pmd_cores",
        "n_rxq",
        "rxq_affinity",
        "rxq_assignment",
        "auto_load_balance",
        "pmd_maxsleep_us",
        "emc",
        "smc",
        "flow_limit",
        "max_idle_ms",
        "max_revalidator_ms",
    }
)
RENDERED: dict[str, frozenset[str]] = {
    "ovs-dpdk": _THREADS | {"rx_queue_size", "socket_memory_mib"},
    "ovs-afxdp": _THREADS | {"xdp_mode", "need_wakeup", "interrupt"},
    "vpp": frozenset(
        {"workers", "forwarding", "mac_table_size", "main_heap_mib", "buffers", "rx_queue_size", "rx_queues"}
    ),
}
"""Options that are rendered, by data plane; those that no line names have their defaults, or are refused."""
OF_THE_LAB = frozenset({"dataplane", "core_use"})
"""Options about ports that the lab alone has."""


def check_options(variant: Variant) -> None:
    """Make sure that a cloud can be what a variant asks for.

    Raises:
        UnsupportedError: an option has another value than its default, and Neutron and Nova have no such setting.
    """
    options = variant.options
    fields = type(options).model_fields
    known = RENDERED.get(options.dataplane, frozenset()) | OF_THE_LAB
    changed = {
        name: getattr(options, name)
        for name, field in fields.items()
        if name not in known and getattr(options, name) != field.get_default(call_default_factory=True)
    }
    if changed:
        raise UnsupportedError(
            f"variant {variant.name} has options that a cloud does not have",
            where=f"deploy/variants/{variant.name}.yml options",
            observed=", ".join(f"{name}: {value}" for name, value in changed.items()),
            fix=f"another variant of {options.dataplane}; on a cloud Neutron and Nova decide about these",
        )
