"""The draft of an experiment, made from VSPERF's settings."""

from dataclasses import dataclass, field
from typing import Any

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import KeyPath
from nfvbed.vsperf.conf.placed import Note, NoteKind, Place, refused, shown
from nfvbed.vsperf.conf.settings import SettingValue


@dataclass
class Draft:
    """The parts that have been mapped so far."""

    test: str
    experiment: dict[str, Any] = field(default_factory=dict)
    """As an experiment's file holds it."""
    origins: dict[KeyPath, tuple[str, Place | None]] = field(default_factory=dict)
    """Key of the experiment: the setting that it comes from, and its place."""
    variant_options: dict[str, Any] = field(default_factory=dict)
    """Options of the variant that are to differ from its file."""
    nics: tuple[str, ...] = ()
    """PCI addresses of the switch's outer ports; none: they are virtual."""
    notes: list[Note] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """What nfvbed cannot do yet and the test needs."""
    advice: list[str] = field(default_factory=list)
    """What a user can do about something that is missing."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """Settings whose value is refused, with VSPERF's default, which would not be; None: leave it out."""

    def put(self, key: str, value: Any, found: SettingValue) -> None:
        """Set a key of the experiment (dotted) to a setting's value."""
        *parents, last = key.split(".")
        target = self.experiment
        for parent in parents:
            target = target.setdefault(parent, {})
        target[last] = value
        self.origins[tuple(key.split("."))] = (found.name, found.place)

    def differs(self, found: SettingValue, text: str) -> None:
        """Note that nfvbed does it in another way."""
        self.notes.append(Note(NoteKind.DIFFERS, found.name, text, found.place))

    def unused(self, found: SettingValue, text: str, *, is_default: bool = False) -> None:
        """Note that nfvbed has no use for it."""
        self.notes.append(Note(NoteKind.UNUSED, found.name, text, found.place, is_default))

    def lacks(self, text: str, found: SettingValue, advice: str = "") -> None:
        """Report that nfvbed has no equivalent yet, and what can be done about it."""
        place = f", {found.place}" if found.place else ""
        self.missing.append(f"{text} ({found.name} = {shown(found.value)}{place})")
        if advice:
            self.advice.append(advice)

    def wrong(self, found: SettingValue, fix: str) -> ConfigurationError:
        """Return the error for a value that VSPERF would not take either."""
        return refused(f"{found.name} of test {self.test} is not valid", found.place, shown(found.value), fix)


def whole(draft: Draft, found: SettingValue, low: int, high: int) -> int:
    """Return a whole number, written as a number or, as often in VSPERF, as a text.

    Raises:
        ConfigurationError: it is none, or out of range.
    """
    value = found.value
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise draft.wrong(found, f"give a whole number from {low} to {high}")
    return value


def number(draft: Draft, found: SettingValue, low: float, high: float) -> float:
    """Return a number.

    Raises:
        ConfigurationError: it is none, or out of range.
    """
    value = found.value
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise draft.wrong(found, f"give a number from {low:g} to {high:g}")
    return float(value)


def one_of(draft: Draft, found: SettingValue, allowed: tuple[Any, ...]) -> Any:
    """Return one of a few values.

    Raises:
        ConfigurationError: it is none of them.
    """
    if not isinstance(found.value, str | bool | int) or found.value not in allowed:
        raise draft.wrong(found, f"give one of: {', '.join(repr(value) for value in allowed)}")
    return found.value


def truth(draft: Draft, found: SettingValue) -> bool:
    """Return a truth value, also of the text 'True'; the text 'False', which VSPERF takes as true, is refused.

    Raises:
        ConfigurationError: it is none.
    """
    return one_of(draft, found, (True, False, "True")) in (True, "True")


def flag(draft: Draft, found: SettingValue) -> bool:
    """Return a truth value; None, where a part of TRAFFIC is left out, is False.

    Raises:
        ConfigurationError: it is none.
    """
    return found.value is not None and bool(one_of(draft, found, (True, False)))
