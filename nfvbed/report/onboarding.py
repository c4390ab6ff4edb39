"""Times of onboarding in words, the same on the page and the terminal."""

from collections.abc import Sequence

from nfvbed.compare.onboarding import OnboardingTime, StepTime, onboarding_times
from nfvbed.records import FactRecord
from nfvbed.units import NS_PER_S

HEADINGS = ("variant", "path", "until the first frame", "of which")
CAPTION = "Onboarding, seconds (median and range of the times that VNFs were onboarded)"


def cells(found: OnboardingTime) -> tuple[str, str, str, str]:
    """Return the row of one variant and path, under `HEADINGS`."""
    first = found.first_frame
    total = _seconds(first.median_ns)
    if first.count > 1:
        total += f" ({_seconds(first.low_ns)} - {_seconds(first.high_ns)}, n {first.count})"
    else:
        total += " (n 1)"
    return found.variant, f"{found.topology} {found.vnf}", total, ", ".join(map(_step, found.steps))


def lines(facts: Sequence[FactRecord]) -> tuple[str, ...]:
    """Return a heading and one line for each variant and path; nothing where no VNF was onboarded."""
    times = onboarding_times(facts)
    said = tuple(f"  {variant}, {path}: {total}: {steps}" for variant, path, total, steps in map(cells, times))
    return (f"{CAPTION}:", *said) if said else ()


def _step(step: StepTime) -> str:
    return f"{step.step} {_seconds(step.median_ns)}"


def _seconds(duration_ns: float) -> str:
    return f"{duration_ns / NS_PER_S:.2f}"
