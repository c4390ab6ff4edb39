"""VSPERF's settings as read, and as they apply to one test."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nfvbed.vsperf.conf.interpreter import ROOT_DIR
from nfvbed.vsperf.conf.macros import MacroError, expand_guest, expand_references, has_macro
from nfvbed.vsperf.conf.placed import Place, PlacedDict, places_of, refused, shown
from nfvbed.vsperf.conf.released import NEWEST, ROOT, Release, default_of, release_of, releases, same
from nfvbed.vsperf.conf.testcase import SETTING_OF, TestCase

DEFAULTED: Final = frozenset(
    (
        "TRAFFIC",
        "TRAFFICGEN_PKT_SIZES",
        "TRAFFICGEN_DURATION",
        "TRAFFICGEN_LOSSRATE",
        "VSWITCH",
        "VNF",
        "GUEST_LOOPBACK",
        "GUEST_TESTPMD_FWD_MODE",
        "TUNNEL_TYPE",
        "LOADGEN",
    )
)
"""Settings that have VSPERF's default where no file gives them a value; all else nfvbed's own files decide then."""
GUEST: Final = "GUEST_"


@dataclass(frozen=True)
class SettingValue:
    """A setting's value for one test."""

    name: str
    value: Any
    place: Place | None
    """None: it is VSPERF's default."""

    def at(self, *keys: str) -> "SettingValue":
        """Return an item of the dictionary, with its place; None where there is none."""
        value, place, name = self.value, self.place, self.name
        for key in keys:
            place = places_of(value).get(key, place)
            value = value.get(key) if isinstance(value, Mapping) else None
            name = f"{name}['{key}']"
        return SettingValue(name, value, place)


@dataclass(frozen=True)
class VsperfSettings:
    """All settings that were read."""

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    """In the order in which they were read."""
    tests: tuple[TestCase, ...] = ()

    @property
    def release(self) -> Release:
        """The release of VSPERF whose defaults hold: that of the files that were read, else the newest."""
        return release_of(self.places.keys())

    def test(self, name: str) -> TestCase | None:
        """Return the test case that the files define under a name; None: there is none."""
        return next((case for case in self.tests if case.name == name), None)

    def for_test(self, case: TestCase, guests: int) -> "TestSettings":
        """Return the settings of one test.

        Args:
            case: its keywords override its parameters, which override `TEST_PARAMS`.
            guests: number of its VNFs.
        """
        return TestSettings(self, case, guests)


class TestSettings:
    """The settings of one test: merged, with macros expanded."""

    __test__ = False

    def __init__(self, settings: VsperfSettings, case: TestCase, guests: int) -> None:
        self._settings = settings
        self._case = case
        self._guests = guests
        self._release = settings.release
        everywhere = settings.values.get("TEST_PARAMS", {})
        self._parameters: Mapping[str, Any] = merged(_placed(everywhere), case.parameters)

    def get(self, name: str) -> SettingValue | None:
        """Return a setting's value; None where no file gives it one and VSPERF's default is not known here.

        Raises:
            ConfigurationError: a macro in it has no value, or a dictionary is needed and something else is given.
        """
        found = self.raw(name)
        return None if found is None else SettingValue(name, self._expanded(found), found.place)

    def _expanded(self, found: SettingValue) -> Any:
        try:
            value = expand_references(found.value, self._look_up)
            return self._of_guests(value) if found.name.startswith(GUEST) else value
        except MacroError as error:
            raise refused(f"a macro in {found.name} has no value", found.place, str(error), "fix the macro") from error

    def require(self, name: str) -> SettingValue:
        """Return the value of a setting that has a default."""
        found = self.get(name)
        if found is None:
            raise LookupError(name)
        return found

    def given(self) -> tuple[str, ...]:
        """Return the names of all settings with a value from the files, the parameters or the test."""
        keywords = [setting for keyword, setting in SETTING_OF.items() if keyword in self._case.keywords]
        return tuple(dict.fromkeys((*self._settings.places, *self._parameters, *keywords)))

    def default(self, name: str) -> Any:
        """Return VSPERF's default of a setting, macros unexpanded; None where none is known."""
        try:
            return default_of(name, self._release)
        except LookupError:
            return None

    def is_like(self, found: SettingValue, default: Any) -> bool:
        """Return whether a part of a setting equals that part of a recorded default."""
        return same(self._rooted(found.value), default)

    def is_as_released(self, found: SettingValue) -> bool:
        """Return whether a value is written as in the release whose files were read, with macros unexpanded."""
        return found.name in self._release.defaults and self.is_like(found, self._release.defaults[found.name])

    def is_default(self, found: SettingValue) -> bool:
        """Return whether a value, with its macros expanded, is VSPERF's default for the guests of this test."""
        default = self.default(found.name)
        if default is None:
            return False
        default = self._expanded(SettingValue(found.name, default, None))
        return same(self._shortened(self._rooted(found.value), found.name), self._shortened(default, found.name))

    def _shortened(self, value: Any, name: str) -> Any:
        """Return a setting's values for this test's guests; other settings have one value for all."""
        if not name.startswith(GUEST):
            return value
        guests = max(self._guests, 1)
        return list(value[:guests]) if isinstance(value, list | tuple) else [value] * guests

    def _rooted(self, value: Any) -> Any:
        """Return a value with VSPERF's folder replaced by the word that stands for it in recorded defaults."""
        root = str(self._settings.values.get("ROOT_DIR", ROOT_DIR))
        if isinstance(value, str):
            return f"{ROOT}{value.removeprefix(root)}" if value.startswith(root) else value
        if isinstance(value, list | tuple):
            return [self._rooted(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self._rooted(item) for key, item in value.items()}
        return value

    def _look_up(self, name: str) -> Any:
        found = self.raw(name)
        if found is None:
            raise LookupError(name)
        return found.value

    def raw(self, name: str) -> SettingValue | None:
        """Return a setting's value as it is written, with its macros; None as `get`."""
        for keyword, setting in SETTING_OF.items():
            if setting == name and keyword in self._case.keywords:
                return SettingValue(name, self._case.keywords[keyword], self._case.place_of(keyword))
        base = self._base(name)
        if name not in self._parameters:
            return base
        place = places_of(self._parameters).get(name, self._case.place)
        given = self._parameters[name]
        if name == "TRAFFIC" and base is not None:
            if not isinstance(given, Mapping):
                raise refused("TRAFFIC is not a dictionary", place, shown(given), "write {'key': value}")
            return SettingValue(name, merged(_placed(base.value), given), place)
        return SettingValue(name, given, place)

    def _base(self, name: str) -> SettingValue | None:
        default = default_of(name, releases()[NEWEST]) if name in DEFAULTED else None
        if name in self._settings.values:
            value = self._settings.values[name]
            if name == "TRAFFIC":
                value = merged(_placed(default), value)
            return SettingValue(name, value, self._settings.places.get(name))
        return None if default is None else SettingValue(name, default, None)

    def _of_guests(self, value: Any) -> Any:
        """Return a list with a value for each guest; the first is repeated, or expanded, if it is too short."""
        if isinstance(value, str):
            return expand_guest(value, 0) if has_macro(value) else value
        if not isinstance(value, list | tuple) or not value:
            return value
        if has_macro(value[0]):
            return [expand_guest(value[0], index) for index in range(max(self._guests, 1))]
        return [*value, *([value[0]] * (self._guests - len(value)))][: max(self._guests, 1)]


def _placed(value: Any) -> PlacedDict:
    copy = PlacedDict(value)
    for key, item in copy.items():
        if isinstance(item, dict):
            copy[key] = _placed(item)
    return copy


def merged(base: PlacedDict, new: Mapping[str, Any]) -> PlacedDict:
    """Return one dictionary with another's values over its own, level by level, as in VSPERF.

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
