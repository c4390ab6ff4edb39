"""Lines of a start's stages on standard error, for commands that bring a cloud up on their way."""

import sys

from nfvbed.sites.openstack.stages import Stage


class StageLines:
    """One line a stage, when it has ended."""

    def begin(self, number: int, total: int, stage: Stage) -> None:
        """Say which one begins."""
        print(f"[{number:2}/{total}] {stage.name:15} {stage.summary} ... ", end="", file=sys.stderr, flush=True)

    def end(self, stage: Stage, seconds: float, outcome: str) -> None:
        """Say how long it took."""
        print(f"{seconds:.0f} s" + (f" ({outcome})" if outcome else ""), file=sys.stderr, flush=True)

    def skip(self, number: int, total: int, stage: Stage) -> None:
        """What is done already needs no line."""

    def fail(self, stage: Stage, seconds: float) -> None:
        """Say so; the error follows."""
        print(f"failed after {seconds:.0f} s", file=sys.stderr, flush=True)
