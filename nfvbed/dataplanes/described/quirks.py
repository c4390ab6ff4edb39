"""What is different with described switches, as each one's description has it."""

from nfvbed.dataplanes.described.options import DescribedOptions
from nfvbed.dataplanes.described.switch import NAME
from nfvbed.dataplanes.quirks import Quirks
from nfvbed.records import PortKind
from nfvbed.spec.variant import Variant, options_of


def quirks_of(variant: Variant) -> Quirks:
    """Return the quirks of the switch that a variant describes."""
    options = options_of(variant, DescribedOptions)
    process = options.process
    kinds = frozenset(PortKind(kind) for kind in options.port_kinds)
    return Quirks(
        process=NAME if process is not None else "",
        no_reset={} if options.has_reset else dict.fromkeys(kinds, "there is no reset of this switch"),
        not_separable=kinds if process is not None and process.threads.polling else frozenset(),
    )
