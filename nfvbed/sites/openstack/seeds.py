"""The secrets of deployments, from which machines of one VNF make the same keys."""

import hmac
import secrets
from pathlib import Path

from nfvbed.cloud.devcloud.places import write_private

_NAME = "given.secret"
_CHARACTERS = 32


def seed_of(folder: Path, owner: str) -> str:
    """Return the secret of a deployment, the same as long as its file is there; the owner's name does not reveal it.

    Args:
        folder: folder of the deployment's file; the secret's file is made there, readable by root alone.
    """
    path = folder / _NAME
    if not path.exists():
        write_private(path, secrets.token_hex(32))
    return hmac.digest(path.read_bytes(), owner.encode(), "sha256").hex()[:_CHARACTERS]
