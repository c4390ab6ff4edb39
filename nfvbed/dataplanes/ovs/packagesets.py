"""Which Open vSwitch a variant runs: the default one, a release's package set, or a build of the user's.

A package set is what a suite of Debian has: Open vSwitch, its DPDK, the libraries and the C library, all by one
compiler and its flags. They change together, so a difference between two sets is a difference of the sets, and of none
of their parts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from nfvbed.dataplanes.ovs.releasechanges import changes_between
from nfvbed.spec.options import DataPlaneOptions


def _in_quotes(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError(f'{value} is a number, and 3.10 the same as 3.1: write it in quotes, as "3.5"')
    return value


ReleaseName = Literal["2.15", "3.1", "3.5", "4.0"]
"""Releases of Open vSwitch, as in `setup/suites.txt`."""


@dataclass(frozen=True)
class VersionNeed:
    """A setting that is asked for, and the versions of Open vSwitch that have it: others accept it silently."""

    setting: str
    """As in the variant's file."""
    of_switch: str
    """Its name in Open vSwitch."""
    since: tuple[int, int] = (0, 0)
    until: tuple[int, int] | None = None
    """The first that has it no more; None: all newer ones have it."""
    instead: str = ""
    """Value that every version has."""


class PackageSetOptions(DataPlaneOptions):
    """Where the daemons come from."""

    command_fields: ClassVar[frozenset[str]] = frozenset({"program"})

    release: Annotated[ReleaseName | None, BeforeValidator(_in_quotes)] = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """Release of Open vSwitch (in quotes) with all of its suite, in a root of its own (`make releases`); None: the
    default one (`make setup`)."""
    program: str | None = Field(default=None, min_length=1, exclude_if=lambda value: value is None)
    """Folder of another Open vSwitch: a build tree, the prefix of an installation, or a root as `make releases` makes
    them."""

    @property
    def version_needs(self) -> tuple[VersionNeed, ...]:
        """What is asked for that some versions do not have."""
        return ()

    @property
    def is_usual(self) -> bool:
        """Whether it is the Open vSwitch of `make setup`, or the system's."""
        return self.release is None and self.program is None

    @classmethod
    def changes_of(cls, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
        """Return what changed by itself between two versions of Open vSwitch."""
        return changes_between(before.get("openvswitch", ""), after.get("openvswitch", ""))

    @model_validator(mode="after")
    def is_one_open_vswitch(self) -> Self:
        if self.release is not None and self.program is not None:
            raise ValueError("release and program name two Open vSwitches: leave one of them out")
        return self
