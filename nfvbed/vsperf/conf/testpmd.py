"""Compares the arguments of testpmd in VSPERF's guests with those in nfvbed's guests."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nfvbed.vsperf.conf.draft import Draft, whole
from nfvbed.vsperf.conf.placed import Place
from nfvbed.vsperf.conf.released import releases
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings

PARAMS: Final = "GUEST_TESTPMD_PARAMS"
_PLACED: Final = frozenset(("-c", "-l", "--lcores", "-n", "-m", "--socket-mem", "--master-lcore", "--main-lcore"))
"""Options of DPDK's EAL about cores and memory, which nfvbed decides."""
_IN_THE_GUEST: Final = frozenset(("--huge-dir", "--file-prefix", "--proc-type", "--no-telemetry"))
"""Options of the EAL about files in the guest."""
_HOW_IT_IS_LED: Final = frozenset(("-i", "--interactive", "-a", "--auto-start"))
_OLD_NUMBERS: Final = {
    "GUEST_TESTPMD_NB_CORES": "--nb-cores",
    "GUEST_TESTPMD_RXQ": "--rxq",
    "GUEST_TESTPMD_TXQ": "--txq",
}
"""Colorado's settings, of which 0 says nothing."""


@dataclass(frozen=True)
class GuestTestpmd:
    """testpmd as it runs in nfvbed's guests."""

    burst: int
    descriptors: int
    queues: int
    """Queues of each port."""
    cores: int
    """Cores that forward; where the VNF is no virtual machine, one."""

    def does(self, option: str) -> int | None:
        """Return its value of an option with a number; None for other options."""
        numbers = {
            "--burst": self.burst,
            "--rxd": self.descriptors,
            "--txd": self.descriptors,
            "--rxq": self.queues,
            "--txq": self.queues,
            "--nb-cores": self.cores,
        }
        return numbers.get(option)


def map_testpmd(draft: Draft, settings: TestSettings, found: SettingValue | None, guest: GuestTestpmd) -> None:
    """Report arguments that nfvbed's testpmd does not have as missing; VSPERF's own defaults only differ.

    Args:
        draft: gets what is missing and what differs.
        found: the arguments of all guests; None: none are given.
    """
    if found is not None:
        if not isinstance(found.value, str):
            raise draft.wrong(found, "give testpmd's arguments as one text")
        eal, _, own = found.value.partition(" -- ")
        _eal(draft, found, eal)
        _own(draft, found, own, guest)
    for name, option in _OLD_NUMBERS.items():
        number = settings.get(name)
        if number is not None:
            value = whole(draft, number, 0, 64)
            if value and value != guest.does(option):
                draft.lacks(_has(option, guest), number)


def _eal(draft: Draft, found: SettingValue, text: str) -> None:
    for option, _ in _options(text):
        if option not in _PLACED | _IN_THE_GUEST:
            draft.lacks("testpmd has no devices and options of DPDK but its ports", _part(found, option))


def _own(draft: Draft, found: SettingValue, text: str, guest: GuestTestpmd) -> None:
    defaults, cores_given = dict(_default_options()), False
    for option, value in _options(text):
        does = guest.does(option)
        cores_given = cores_given or option == "--nb-cores"
        written = f"{option}={value}" if value else option
        if option in _HOW_IT_IS_LED or (does is not None and value == str(does)):
            continue
        if defaults.get(option) == value:
            if does is not None:
                draft.differs(_part(found, written), _has(option, guest))
            continue
        draft.lacks(_has(option, guest), _part(found, written))
    if not cores_given and guest.cores != 1:
        draft.differs(found, _has("--nb-cores", guest))


def _has(option: str, guest: GuestTestpmd) -> str:
    does = guest.does(option)
    has = "without it" if does is None else f"with {option}={does}"
    return f"testpmd in nfvbed's guests runs {has}"


def _part(found: SettingValue, text: str) -> SettingValue:
    place: Place | None = found.place
    return SettingValue(found.name, text, place)


def _options(text: str) -> Iterable[tuple[str, str]]:
    """Yield options with their values; `--a=b` equals `--a b`, and a comma at the end is dropped."""
    words = text.split()
    for index, word in enumerate(words):
        if word.startswith("-"):
            option, equals, value = word.partition("=")
            following = words[index + 1] if index + 1 < len(words) else ""
            if not equals and not following.startswith("-"):
                value = following
            yield option, value.rstrip(",")


def _default_options() -> Iterable[tuple[str, str]]:
    """Yield testpmd's own options in the defaults of all releases."""
    for release in releases().values():
        for text in release.defaults.get(PARAMS, ()):
            yield from _options(text.partition(" -- ")[2])
