"""Zip archives of others: what their directory costs to read is bounded, and what damaged ones raise is known."""

import io
import zipfile
import zlib
from typing import Final

NO_ARCHIVE: Final = (
    zipfile.BadZipFile,
    NotImplementedError,  # a later version of the format
    OSError,
    EOFError,
    ValueError,  # a name that is marked as UTF-8, and is not; an offset below zero
)
"""What reading the directory of bytes raises that are no zip archive, or a damaged one."""
DAMAGES: Final = (
    zipfile.BadZipFile,  # a header or a checksum is wrong
    zlib.error,
    NotImplementedError,  # a later version of the format
    RuntimeError,  # the member's own header says that it is encrypted
    OSError,
    EOFError,  # the archive ends within the member
)
"""What reading a member raises that is damaged."""

_MOST_END: Final = 22 + 2**16 - 1
"""Bytes of the longest record at an archive's end, its comment included: Python from 3.13 on asks for so many."""


class BoundedReads(io.BufferedReader):
    """An archive's file, of which no more is read at once than its largest directory, whatever the archive says.

    The record at its end, of 64 KiB at most, is read where directories are bounded below that, too.
    """

    def __init__(self, raw: io.BytesIO | io.FileIO, most: int) -> None:
        """Begin to read.

        Args:
            raw: is closed with this one.
            most: bytes of the largest directory; members are read in smaller pieces.
        """
        super().__init__(raw)
        self._most = max(most, _MOST_END)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return bytes.

        Raises:
            zipfile.BadZipFile: they are too many.
        """
        if size is not None and size > self._most:
            raise zipfile.BadZipFile(f"its directory has {size} bytes; {self._most} are read")
        return super().read(size)
