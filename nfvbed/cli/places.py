"""Where results are, as the command line and the environment say."""

import os
from pathlib import Path

from nfvbed.spec.root import is_installed

DEFAULT_STORE = Path("results") / "nfvbed.sqlite"


def store_below(root: Path, store: str | None) -> str:
    """Return the file or URL of the results: `--store`, then NFVBED_STORE, then the default.

    The default is below the root; where nfvbed is installed without a checkout, below the current folder.
    """
    below = Path.cwd() if is_installed(root) else root
    return store or os.environ.get("NFVBED_STORE") or str(below / DEFAULT_STORE)
