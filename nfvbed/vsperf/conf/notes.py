"""What became of settings that were accepted, in lines to print: a few, however many settings there are."""

from collections.abc import Iterable, Sequence

from nfvbed.vsperf.conf.placed import Note, NoteKind


def lines_of(notes: Sequence[Note]) -> Iterable[str]:
    """Yield a line for each note that differs, one for all that are not used for the same reason, and one for defaults.

    Settings that hold VSPERF's own default are counted: nobody asked for something with them.
    """
    for note in notes:
        if note.kind is NoteKind.DIFFERS:
            yield str(note)
    unused = [note for note in notes if note.kind is NoteKind.UNUSED]
    for reason in dict.fromkeys(note.text for note in unused if not note.is_default):
        alike = [note for note in unused if note.text == reason and not note.is_default]
        named = ", ".join(f"{note.name} ({note.place})" if note.place else note.name for note in alike)
        yield f"{NoteKind.UNUSED.value}: {named}: {reason}"
    defaults = sum(note.is_default for note in unused)
    if defaults:
        counted = "1 setting with VSPERF's default" if defaults == 1 else f"{defaults} settings with VSPERF's defaults"
        yield f"{NoteKind.UNUSED.value}: {counted}"
