"""Frames that did not arrive, by the place where they were lost, as far as trials tell."""

from collections.abc import Sequence

from nfvbed.records import Record, TrialRecord


class LostFrames(Record):
    """Frames of one place, over all directions of some trials."""

    place: str
    frames: int
    meaning: str


def lost_frames(trials: Sequence[TrialRecord]) -> tuple[LostFrames, ...]:
    """Return what was intended, sent and received, and where the rest was lost."""

    def total(count: str) -> int:
        return sum(getattr(direction, count) for trial in trials for direction in trial.directions)

    late = total("late")
    counts = (
        ("intended", total("intended"), "asked of the generator"),
        ("not sent: late", late, "the generator was kept from its core; they count on neither side"),
        ("not sent: refused", total("unsent") - late, "the switch's port took no frame at its due time"),
        ("sent", total("sent"), "taken by the switch's port"),
        (
            "lost after sending",
            total("lost"),
            "in the switch, at a VNF's ports or at the receiver: a trial does not tell which",
        ),
        ("received", total("received"), "distinct frames, those of the drain included"),
        ("corrupted", total("corrupted"), "arrived with other contents"),
        ("duplicated", total("duplicated"), "arrived more than once"),
        ("reordered", total("reordered"), "arrived after a later one"),
    )
    return tuple(LostFrames(place=place, frames=frames, meaning=meaning) for place, frames, meaning in counts)
