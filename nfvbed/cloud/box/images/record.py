"""The record of images that nfvbed built: it lies in their storage, and says whose they are and what is in them."""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

FILE = "images.json"
LABEL = "nfvbed.images"
"""Label of an image and annotation of its manifest; its value is `OURS`."""
OURS = "ours"


class ImageRecord(BaseModel):
    """What was built, and of what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    images: Literal["ours"] = "ours"
    """Whose they are: built here of Debian's and PyPI's packages, under Kolla's names; not Kolla's own."""
    key: str
    """Hash of all that they were made of."""
    kolla: str
    """Version of the templates: users, start programs and commands."""
    kolla_ansible: str
    """Version of kolla-ansible that asks for them."""
    namespace: str
    """First part of the names of all repositories."""
    tag: str
    names: tuple[str, ...]
    layer: str
    """Digest of the layer that all share."""
    layer_key: str
    """Hash of what the layer was made of."""
    layer_bytes: int
    diff_id: str
    """Digest of the layer as a plain archive."""
    packages: dict[str, str]
    """Versions of Debian's packages."""
    python: dict[str, dict[str, str]]
    """Versions of Python's packages in each environment."""

    @classmethod
    def read(cls, storage: Path) -> "ImageRecord | None":
        """Return the record of a storage; None where there is none, or it is of another form."""
        try:
            return cls.model_validate_json((storage / FILE).read_text())
        except (OSError, ValueError):
            return None

    def write(self, storage: Path) -> None:
        """Write it into a storage."""
        (storage / FILE).write_text(json.dumps(self.model_dump(), indent=1, sort_keys=True) + "\n")
