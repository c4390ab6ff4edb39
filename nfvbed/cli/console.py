"""The console that tables and progress are printed to: it has styles of its own, and texts bring none."""

from collections.abc import Iterable
from typing import IO, Any

from rich import console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from nfvbed.characters import shown
from nfvbed.cli.output import EscapedStream


class Console(console.Console):
    """Prints control characters as escapes; brackets and colons in names are no markup."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, **settings})

    @property
    def file(self) -> IO[str]:
        """The stream to which rich writes: the one that lets rich's own styles pass."""
        found = super().file
        return found.styled if isinstance(found, EscapedStream) else found

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render_str(self, text: str, **settings: Any) -> Text:
        """Return a text as it is shown; so columns are as wide as what is in them."""
        return super().render_str(shown(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the parts of what is printed."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=shown(segment.text))
