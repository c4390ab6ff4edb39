"""Notes below a table: what would make its columns too wide to read stands there once, and a letter in the cell."""

from string import ascii_lowercase

from markupsafe import Markup


class TableNotes:
    """Collects the notes of one table in the order in which its cells name them; equal texts share a letter."""

    def __init__(self, table: str) -> None:
        """Begin with none.

        Args:
            table: the table's id; the notes' ids begin with it.
        """
        self._table = table
        self._texts: list[str] = []

    def mark(self, text: str) -> Markup:
        """Give the letter for a cell; nothing where there is nothing to say."""
        if not text:
            return Markup("")
        if text not in self._texts:
            self._texts.append(text)
        letter = self._letter(text)
        return Markup('<sup><a href="#{0}-note-{1}" title="{2}">{1}</a></sup>').format(self._table, letter, text)

    def render(self) -> Markup:
        """Write the notes; nothing where no cell named one."""
        if not self._texts:
            return Markup("")
        items = Markup("").join(
            Markup('<li id="{0}-note-{1}"><sup>{1}</sup> {2}</li>').format(self._table, self._letter(text), text)
            for text in self._texts
        )
        return Markup('<ul class="notes">{}</ul>').format(items)

    def _letter(self, text: str) -> str:
        index = self._texts.index(text)
        return ascii_lowercase[index] if index < len(ascii_lowercase) else str(index + 1)
