"""Notes below a table: a text that would make a column too wide is there once, with its letter in the cell."""

from string import ascii_lowercase

from nfvbed.report.page.values import Note


class TableNotes:
    """Collects the notes of one table in the order in which its cells name them; equal texts share a letter."""

    def __init__(self, table: str) -> None:
        """Begin with no notes.

        Args:
            table: the table's id; the notes' ids begin with it.
        """
        self._table = table
        self._notes: dict[str, Note] = {}

    def mark(self, text: str) -> Note | None:
        """Return the note for a cell; None where there is nothing to say."""
        if not text:
            return None
        if text not in self._notes:
            index = len(self._notes)
            letter = ascii_lowercase[index] if index < len(ascii_lowercase) else str(index + 1)
            self._notes[text] = Note(f"{self._table}-note-{letter}", letter, text)
        return self._notes[text]

    def all(self) -> tuple[Note, ...]:
        """Return the notes that cells named."""
        return tuple(self._notes.values())
