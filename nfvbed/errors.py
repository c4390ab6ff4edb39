"""The one tree of nfvbed's errors; each class carries the exit code of the command line.

A message says what failed, on what, what was observed, and what to do next.
"""

from typing import ClassVar

_MOST_SHOWN = 4000
"""Characters of each part of a message: what is wrong may be a value of any length."""


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(text)} characters)"


class NfvbedError(Exception):
    """Base of all errors that nfvbed raises on purpose.

    Args:
        what: what failed and on what ("hugepages for ovs-dpdk").
        where: the file and key, process, device or address it concerns.
        fix: next step of the user.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str = "", observed: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.observed = observed
        self.fix = fix

    def __str__(self) -> str:
        lines = [_shortened(self.what)]
        for label, text in (("where", self.where), ("observed", self.observed), ("fix", self.fix)):
            if text:
                lines.append(f"  {label}: {_shortened(text)}")
        return "\n".join(lines)


class InternalError(NfvbedError):
    """A promise inside nfvbed was broken: a fault of nfvbed itself."""

    exit_code = 1


class DrawingError(NfvbedError):
    """A figure could not be drawn; what it shows is in the tables too."""

    exit_code = 1


class UsageError(NfvbedError):
    """The command line is not of the form that its verb takes, or its parts do not fit together."""

    exit_code = 2


class ConfigurationError(NfvbedError):
    """A file holds something that is not valid: unknown key, wrong type, out of range."""

    exit_code = 10


class UnknownNameError(ConfigurationError):
    """A name that nothing has: no variant, site, VNF, flavor, experiment, test, run or row is called so."""


class UnsupportedError(NfvbedError):
    """This host or site cannot do it; a probe found the reason."""

    exit_code = 11
    of_vnf = False
    """Whether it is a VNF that cannot run here, whatever data plane it would be on."""


class PrerequisiteError(NfvbedError):
    """Something that can be installed or set up is missing: a package, privileges, hugepages."""

    exit_code = 12


class BusyError(NfvbedError):
    """Another nfvbed, or something else, holds what is needed."""

    exit_code = 13


class DeployError(NfvbedError):
    """A data plane could not be set up or taken down."""

    exit_code = 20


class DeploymentGoneError(DeployError):
    """What a deployment is written down in, its sockets and its logs were taken away while it was needed."""


class TotalLossError(DeployError):
    """A path returned none of the frames that were sent into it: whatever was measured on it says nothing else."""


class OnboardError(NfvbedError):
    """A VNF could not be onboarded."""

    exit_code = 21


class VnfDiedError(NfvbedError):
    """A VNF ended while it was needed."""

    exit_code = 22


class SwitchDiedError(NfvbedError):
    """The switch under test ended while it was needed."""

    exit_code = 23


class GeneratorError(NfvbedError):
    """The traffic generator failed, ended, or answered something that cannot be."""

    exit_code = 24


class StoreError(NfvbedError):
    """Results, or a file that was asked for, could not be written or read: disk full, another format, damaged file."""

    exit_code = 30


class DamagedError(StoreError):
    """What is stored of a run is not as nfvbed writes it: the store is damaged, or another program made it."""


class BundleError(NfvbedError):
    """A bundle is not consistent (a byte was changed, a verdict does not follow), or not signed by a trusted key."""

    exit_code = 31


class NotComparableError(NfvbedError):
    """The results asked for have no scope in which they can be compared."""

    exit_code = 40


class SlowerError(NfvbedError):
    """A gate found the candidate slower than the baseline."""

    exit_code = 41


class UndecidedError(NfvbedError):
    """A gate could not show the candidate slower, nor that it is not."""

    exit_code = 42


class HostMovedError(NfvbedError):
    """The host made a difference where there is none: a gate's rounds do not compare what they claim."""

    exit_code = 43


class InterruptedRunError(NfvbedError):
    """The user interrupted; what was measured is kept."""

    exit_code = 130
