"""The seed: databases as they are after the first start's migrations, kept as a layer below later nodes.

Nothing is copied back: a node with a seed has it between the private root and its own layer.
"""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

from nfvbed.cloud.devcloud.places import CloudPlaces, NodePlaces
from nfvbed.cloud.devcloud.services.settings import PORTS
from nfvbed.errors import DeployError

_KEPT = ("var/lib/mysql", "etc/keystone/fernet-keys", "etc/keystone/credential-keys")
_KEY = "key.json"
_SERVICES = Path(__file__).parent / "services"


class Seed:
    """The seed of a cloud."""

    def __init__(self, places: CloudPlaces) -> None:
        self._places = places

    @property
    def layer(self) -> Path:
        """Its files."""
        return self._places.seed / "layer"

    def usable(self) -> bool:
        """Whether there is one, of this very root, these services and these passwords."""
        try:
            found = json.loads((self._places.seed / _KEY).read_text())
        except (OSError, ValueError):
            return False
        return bool(found == self._key()) and self.layer.is_dir()

    def save(self, node: NodePlaces) -> None:
        """Take it from a node whose databases are shut down.

        Raises:
            DeployError: it cannot be copied.
        """
        shutil.rmtree(self._places.seed, ignore_errors=True)
        self.layer.mkdir(parents=True)
        kept = [path for path in _KEPT if (node.layer / path).is_dir()]
        done = subprocess.run(
            ["cp", "--archive", "--parents", "--reflink=auto", *kept, str(self.layer)],
            cwd=node.layer,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise DeployError("the seed could not be saved", where=str(self.layer), observed=done.stderr[-400:])
        (self._places.seed / _KEY).write_text(json.dumps(self._key()))

    def _key(self) -> dict[str, str]:
        return {
            "root": _digest([self._places.stamp]),
            "services": _digest(sorted(path for path in _SERVICES.rglob("*") if path.suffix in (".py", ".j2"))),
            "secrets": _digest([self._places.secrets]),
            # Keystone's catalogue has them.
            "ports": " ".join(map(str, PORTS.values())),
        }


def _digest(paths: list[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes() if path.is_file() else b"-")
        found.update(path.name.encode())
    return found.hexdigest()
