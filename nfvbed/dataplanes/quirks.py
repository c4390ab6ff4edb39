"""How a data plane differs from most, declared in its room: module `quirks`, value `QUIRKS`.

The tests that hold for every data plane read it (`tests/functional/test_data_planes_conform.py`). A room without the
module has no quirk: the kernel is its switch, its cycles are its own, and it can be reset whatever its ports are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from nfvbed.records import PortKind


def _nothing() -> MappingProxyType[PortKind, str]:
    return MappingProxyType({})


def _no_options() -> MappingProxyType[str, object]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Quirks:
    """How one data plane differs from the others, whatever its variant."""

    process: str = ""
    """Name, in its workspace, of the process that is the switch: with it the switch ends, and a reset renews it.

    Empty: the switch is the kernel's, and ends with a link of it.
    """
    flows_outlive_process: bool = False
    """Whether frames flow on while the process is restarted, as the kernel remembers what it decided."""
    no_reset: Mapping[PortKind, str] = field(default_factory=_nothing)
    """Kinds of ports beneath which it cannot be reset, and a regular expression of the reason."""
    not_separable: frozenset[PortKind] = frozenset()
    """Kinds of ports, the generator's or VNFs', with which its cycles cannot be told from others' work."""
    quick: Mapping[str, object] = field(default_factory=_no_options)
    """Options with which it is deployed fast, where its variants' own take long and have tests of their own."""
    composed: bool = False
    """Whether its adapter is only put together of two others' parts, of which everything is asked: `make test` has its
    frames counted, and the tier slow asks the rest of it."""
