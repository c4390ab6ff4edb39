"""The secrets of deployments, from which machines of one VNF make the same keys."""

import hmac
import secrets
from pathlib import Path

from nfvbed.cloud.devcloud.places import write_private

_NAME = "given.secret"
_CHARACTERS = 32


def seed_of(folder: Path, owner: str) -> str:
    """Return the secret of a deployment, the same as long as the file is there; its owner does not give it away.

    Args:
        folder: where what is deployed is written down; a file that root alone reads is made there.
        owner: the deployment.
    """
    path = folder / _NAME
    if not path.exists():
        write_private(path, secrets.token_hex(32))
    return hmac.digest(path.read_bytes(), owner.encode(), "sha256").hex()[:_CHARACTERS]
