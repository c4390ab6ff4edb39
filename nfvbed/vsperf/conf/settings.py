"""VSPERF's settings as read, and as they hold for one test."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from nfvbed.vsperf.conf.macros import MacroError, expand_guest, expand_references, has_macro
from nfvbed.vsperf.conf.placed import Note, Place, PlacedDict, places_of, refused, shown
from nfvbed.vsperf.conf.testcase import SETTING_OF, TestCase

DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "TRAFFIC": {
            "traffic_type": "rfc2544_throughput",
            "frame_rate": 100,
            "burst_size": 100,
            "bidir": "True",
            "multistream": 0,
            "stream_type": "L4",
            "pre_installed_flows": "No",
            "flow_type": "port",
            "l3": {"enabled": True, "proto": "udp"},
            "l4": {"enabled": True},
            "vlan": {"enabled": False, "id": 0, "priority": 0, "cfi": 0},
            "capture": {"enabled": False},
            "scapy": {"enabled": False},
            "imix": {"enabled": False, "type": "genome", "genome": "aaaaaaaddddg"},
        },
        "TRAFFICGEN_PKT_SIZES": (64,),
        "TRAFFICGEN_DURATION": 30,
        "TRAFFICGEN_LOSSRATE": 0.0,
        "VSWITCH": "OvsDpdkVhost",
        "VNF": "QemuDpdkVhostUser",
        "GUEST_LOOPBACK": ["testpmd"],
        "GUEST_TESTPMD_FWD_MODE": ["csum"],
    }
)
"""What VSPERF's own files say, for those who have no VSPERF. What is not here either, nfvbed's own files decide."""
GUEST: Final = "GUEST_"


@dataclass(frozen=True)
class Found:
    """A setting's value for one test."""

    name: str
    value: Any
    place: Place | None
    """None: it is VSPERF's default."""

    def at(self, *keys: str) -> "Found":
        """Return what a dictionary holds, with its place; None where it holds none."""
        value, place, name = self.value, self.place, self.name
        for key in keys:
            place = places_of(value).get(key, place)
            value = value.get(key) if isinstance(value, Mapping) else None
            name = f"{name}['{key}']"
        return Found(name, value, place)


@dataclass(frozen=True)
class VsperfSettings:
    """All that was read."""

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    """In the order in which they were read."""
    tests: tuple[TestCase, ...] = ()
    notes: tuple[Note, ...] = ()
    """What was accepted without being used."""

    def test(self, name: str) -> TestCase | None:
        """Find the test case that the files define under a name."""
        return next((case for case in self.tests if case.name == name), None)

    def for_test(self, case: TestCase, guests: int) -> "TestSettings":
        """Return the settings that hold for one test.

        Args:
            case: the test; its keywords weigh more than its parameters, these more than `TEST_PARAMS`.
            guests: how many VNFs it has.
        """
        return TestSettings(self, case, guests)


class TestSettings:
    """The settings of one test: merged, with macros expanded."""

    __test__ = False

    def __init__(self, settings: VsperfSettings, case: TestCase, guests: int) -> None:
        self._settings = settings
        self._case = case
        self._guests = guests
        everywhere = settings.values.get("TEST_PARAMS", {})
        self._parameters: Mapping[str, Any] = merged(_placed(everywhere), case.parameters)

    def get(self, name: str) -> Found | None:
        """Return a setting's value; None where no file gives it one and VSPERF's default is not known here.

        Raises:
            ConfigurationError: a macro in it has no value, or a dictionary is needed and something else is given.
        """
        found = self._raw(name)
        if found is None:
            return None
        try:
            value = expand_references(found.value, self._look_up)
            if name.startswith(GUEST):
                value = self._of_guests(value)
        except MacroError as error:
            raise refused(f"a macro in {name} has no value", found.place, str(error), "fix the macro") from error
        return Found(name, value, found.place)

    def require(self, name: str) -> Found:
        """Return the value of a setting that has a default."""
        found = self.get(name)
        if found is None:
            raise LookupError(name)
        return found

    def _look_up(self, name: str) -> Any:
        found = self._raw(name)
        if found is None:
            raise LookupError(name)
        return found.value

    def _raw(self, name: str) -> Found | None:
        for keyword, setting in SETTING_OF.items():
            if setting == name and keyword in self._case.keywords:
                return Found(name, self._case.keywords[keyword], self._case.place_of(keyword))
        base = self._base(name)
        if name not in self._parameters:
            return base
        place = places_of(self._parameters).get(name, self._case.place)
        given = self._parameters[name]
        if name == "TRAFFIC" and base is not None:
            if not isinstance(given, Mapping):
                raise refused("TRAFFIC is not a dictionary", place, shown(given), "write {'key': value}")
            return Found(name, merged(_placed(base.value), given), place)
        return Found(name, given, place)

    def _base(self, name: str) -> Found | None:
        default = DEFAULTS.get(name)
        if name in self._settings.values:
            value = self._settings.values[name]
            if name == "TRAFFIC":
                value = merged(_placed(default), value)
            return Found(name, value, self._settings.places.get(name))
        return None if default is None else Found(name, default, None)

    def _of_guests(self, value: Any) -> Any:
        """Return a list with a value for each guest: the first one repeated, or expanded, where it does not suffice."""
        if isinstance(value, str):
            return expand_guest(value, 0) if has_macro(value) else value
        if not isinstance(value, list | tuple) or not value:
            return value
        if has_macro(value[0]):
            return [expand_guest(value[0], index) for index in range(max(self._guests, 1))]
        return [*value, *([value[0]] * (self._guests - len(value)))]


def _placed(value: Any) -> PlacedDict:
    copy = PlacedDict(value)
    for key, item in copy.items():
        if isinstance(item, dict):
            copy[key] = _placed(item)
    return copy


def merged(base: PlacedDict, new: Mapping[str, Any]) -> PlacedDict:
    """Put the values of one dictionary over another's, level by level, as VSPERF does.

    Raises:
        ConfigurationError: a dictionary is to be replaced by something else.
    """
    for key, value in new.items():
        old, place = base.get(key), places_of(new).get(key)
        if isinstance(old, dict):
            if not isinstance(value, Mapping):
                raise refused(f"{key!r} is not a dictionary", place, shown(value), "write {'key': value}")
            base[key] = merged(_placed(old), value)
        else:
            base[key] = _placed(value) if isinstance(value, dict) else value
        if place is not None:
            base.places[key] = place
    return base
