"""Images as descriptors name them: Glance's name, digests, and the file where it is packed."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from nfvbed.errors import ConfigurationError
from nfvbed.spec.textfile import read_text, require_file

_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class CloudImage:
    """The image that a descriptor names."""

    name: str
    file: Path | None = None
    """To be packed; None: Glance has it."""
    checksums: Mapping[str, str] = field(default_factory=dict)
    version: str = "1"


def checksums(path: Path) -> dict[str, str]:
    """Return the digests of an image that Glance and SOL001 ask for.

    Raises:
        ConfigurationError: it cannot be read.
    """
    found = {"sha256": hashlib.sha256(), "sha512": hashlib.sha512()}
    with _opened(path) as file:
        while piece := file.read(_CHUNK):
            for digest in found.values():
                digest.update(piece)
    return {name: digest.hexdigest() for name, digest in found.items()}


def read_image(path: Path) -> bytes:
    """Return an image's content.

    Raises:
        ConfigurationError: it cannot be read.
    """
    with _opened(path) as file:
        return file.read()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        require_file(path)
        with path.open("rb") as file:
            yield file
    except (OSError, ConfigurationError) as failure:
        observed = failure.observed if isinstance(failure, ConfigurationError) else failure.strerror
        raise ConfigurationError(
            "the image cannot be read",
            where=str(path),
            observed=observed or str(failure),
            fix="make images, or name another image",
        ) from failure


def version_of(path: Path) -> str:
    """Return the version of an image that was built here, from the file beside it; `1` for any other."""
    try:
        found = json.loads(read_text(path.with_suffix(".json")))
    except (ConfigurationError, ValueError, RecursionError):
        return "1"
    return str(found.get("version", "1")) if isinstance(found, dict) else "1"
