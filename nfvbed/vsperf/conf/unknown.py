"""Names that no release of VSPERF has: collected, and reported together."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from nfvbed.errors import ConfigurationError
from nfvbed.vsperf.conf.placed import Place, refused

CLOSE: Final = 0.85
"""Likeness of two names (0 to 1) from which one is taken for the other with a typing mistake."""
CLOSE_WORD: Final = 0.65
"""Likeness of the one word in which two names of several words may differ."""
FEW: Final = 20
"""Names that can all be told."""


@dataclass(frozen=True)
class UnknownName:
    """One name."""

    kind: str
    """What it would be the name of: setting, parameter, keyword, key."""
    name: str
    of: str
    """What it is written in: `of test a`, `in 10_custom.conf`."""
    place: Place | None
    meant: str
    """The name that was probably meant, or those that there are, in words; empty where there are too many."""
    listed: bool
    """Whether these are all that there are."""

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.kind} {self.name!r} {self.of}{'; ' if self.meant else ''}{self.meant}"


@dataclass
class UnknownNames:
    """All unknown names in what was read."""

    found: list[UnknownName] = field(default_factory=list)

    def add(self, kind: str, name: object, of: str, place: Place | None, known: Iterable[str]) -> None:
        """Record a name that is not among the known ones.

        Args:
            kind: the kind of thing that it would name.
            name: as it is written.
            of: the part that has it, as `of test a`.
            known: the names of this kind.
        """
        names = sorted(known)
        close = close_name(str(name), names)
        few = len(names) <= FEW
        meant = f"did you mean {close!r}?" if close else f"one of: {', '.join(names)}" if few else ""
        self.found.append(UnknownName(kind, str(name), of, place, meant, few))

    def refuse(self, fix: str) -> None:
        """Refuse the settings if any name is unknown.

        Args:
            fix: the place of the known names.

        Raises:
            ConfigurationError: with every name, its place, and the name that was probably meant.
        """
        if not self.found:
            return
        if len(self.found) == 1:
            (one,) = self.found
            what = f"unknown {one.kind} {one.name!r} {one.of}"
            raise refused(
                what, one.place, f"{one.kind} {one.name!r}", f"{one.meant} {'' if one.listed else fix}".strip()
            )
        lines = "\n    ".join(str(one) for one in self.found)
        files = dict.fromkeys(str(one.place.path) for one in self.found if one.place)
        raise ConfigurationError(f"{len(self.found)} unknown names", where=", ".join(files), observed=lines, fix=fix)


def close_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name within a typing mistake of a name; None where there is none.

    Names of VSPERF are long and share most words (TRAFFICGEN_TREX_USER, TRAFFICGEN_XENA_USER): one in which a whole
    word is another one sets something else, and is not what was meant.
    """
    alike = sorted(((_likeness(name, other), other) for other in known), reverse=True)
    return alike[0][1] if alike and alike[0][0] >= CLOSE else None


def _likeness(name: str, other: str) -> float:
    words, others = name.split("_"), other.split("_")
    likeness = difflib.SequenceMatcher(None, name, other).ratio()
    if len(words) == 1 or len(words) != len(others):
        return likeness
    least = min(difflib.SequenceMatcher(None, *pair).ratio() for pair in zip(words, others, strict=True))
    return likeness if least >= CLOSE_WORD else 0.0
