"""A data plane that VSPERF measures too: its name there, and what VSPERF's settings are among its variant's options.

A room declares it in its module `vsperf`, value `VSPERF`. VSPERF's own words are in `nfvbed/vsperf`, which reads its
files and hands each test's settings to `map_options`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from nfvbed.errors import ConfigurationError

MAX_CORES: Final = 64
"""Threads of a switch that a setting can ask for."""


class SwitchSettings(ABC):
    """The settings of one test of VSPERF, and the experiment that is made of them.

    A setting is named by its name and, where its value is a dictionary, by keys in there.
    """

    is_tunnelled: bool
    """Whether the switch has a tunnel, whose variant is another one."""

    @abstractmethod
    def value(self, name: str) -> Any:
        """Return a setting's value; None where no file gives it one and VSPERF has no default for it."""

    @abstractmethod
    def default(self, name: str) -> Any:
        """Return VSPERF's default of a setting."""

    @abstractmethod
    def is_default(self, name: str) -> bool:
        """Return whether a setting's value is VSPERF's default."""

    @abstractmethod
    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        """Return a setting's value, which is one of a few.

        Raises:
            ConfigurationError: it is none of them.
        """

    @abstractmethod
    def whole(self, name: str, low: int, high: int) -> int:
        """Return a setting's value, which is a whole number.

        Raises:
            ConfigurationError: it is none, or out of range.
        """

    @abstractmethod
    def set_option(self, option: str, value: Any) -> None:
        """Give an option of the variant another value than its file does."""

    @abstractmethod
    def differs(self, text: str, name: str, *keys: str) -> None:
        """Note what nfvbed does in another way."""

    @abstractmethod
    def lacks(self, text: str, name: str, *keys: str) -> None:
        """Report what nfvbed has no equivalent of: the test is refused."""

    @abstractmethod
    def wrong(self, fix: str, name: str, *keys: str) -> ConfigurationError:
        """Return the error for a value that VSPERF would not take either."""


@dataclass(frozen=True)
class FixedSetting:
    """A setting of the switch whose other values are refused: nfvbed does one thing only."""

    name: str
    reason: str
    """What nfvbed does."""
    accepts: tuple[Any, ...] = ()
    """Values beside VSPERF's default that are what nfvbed does anyway."""
    differs: bool = False
    """Whether VSPERF's default is not what nfvbed does either; a note says so."""


@dataclass(frozen=True)
class SwitchTest:
    """A test of VSPERF's stock files whose ID names the switch."""

    id: str
    deployment: str
    traffic_type: str
    title: str


@dataclass(frozen=True)
class VsperfSwitch:
    """A data plane, as VSPERF has it."""

    vswitch: str
    """Value of VSWITCH."""
    variant: str
    """The variant that is the same data plane, with virtual outer ports."""
    vnic: str
    """Kind of a virtual machine's ports, which its variants give unasked."""
    map_options: Callable[[SwitchSettings], None]
    """Map the settings `used` to the variant's options."""
    used: tuple[str, ...]
    """Settings that are options of the variant."""
    fixed: tuple[FixedSetting, ...] = ()
    on_nics: str = ""
    """The variant of the same switch on NICs; empty: there is none."""
    rx_queues: str = ""
    """Option of the variant: on how many queues the outer ports receive. Empty: there is none, and VSPERF's settings of
    queues change nothing."""
    single_queue: str = ""
    """Why virtual outer ports have one queue; empty: they have several."""
    tests: tuple[SwitchTest, ...] = ()
    tags_frames: bool = False
    """Whether it can put a VLAN tag on each frame (option `flows`), as VSPERF asks of it."""
    has_tunnels: bool = False
    """Whether VSPERF has tunnels within it that an overlay variant has too."""
