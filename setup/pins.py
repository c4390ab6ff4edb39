"""Prints what pip installed as pins with the SHA-256 of each file: `python setup/pins.py REPORT` (pip's --report)."""

import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Print a line a package, sorted by name."""
    entries = json.loads(Path(sys.argv[1]).read_text())["install"]
    lines = [_line(entry) for entry in entries if entry["metadata"]["name"] != "pip"]
    print("\n".join(sorted(lines, key=str.lower)))


def _line(entry: dict[str, Any]) -> str:
    digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
    return f"{entry['metadata']['name']}=={entry['metadata']['version']} --hash=sha256:{digest}"


if __name__ == "__main__":
    main()
