"""Comparison with kept files, byte by byte. NFVBED_UPDATE_GOLDEN=1 writes them again: read the difference then."""

import os
from pathlib import Path


def check(path: Path, text: str) -> None:
    """Compare with the kept file, or write it."""
    if os.environ.get("NFVBED_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{path} differs; NFVBED_UPDATE_GOLDEN=1 writes it again"
