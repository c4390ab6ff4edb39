"""Files with secrets."""

import os
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file that its owner alone can read, in one step."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    draft.rename(path)
