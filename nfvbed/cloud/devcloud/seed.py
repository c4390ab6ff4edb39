"""The seed: databases as they are after the first start's migrations, kept as a layer for later nodes.

Nothing is copied back: a node with a seed has it between the private root and its own layer. Its database users have
the passwords from when it was made, so these are copied with a seed.
"""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

from nfvbed.cloud.devcloud.places import CloudPlaces, NodePlaces
from nfvbed.cloud.devcloud.services.settings import PORTS
from nfvbed.errors import DeployError
from nfvbed.sharedcache import SharedCache

_KEPT = ("var/lib/mysql", "etc/keystone/fernet-keys", "etc/keystone/credential-keys")
_KEY = "key.json"
_KIND = "devcloud-seed"
_HERE = Path(__file__).parent
_MAKERS = ("bringup.py", "identity.py")
"""What migrates and registers, beside the services."""


class Seed:
    """A cloud's seed.

    Args:
        shared: where another clone's seed may be, of the same root and services.
    """

    def __init__(self, places: CloudPlaces, shared: SharedCache | None = None) -> None:
        self._places = places
        self._shared = shared

    @property
    def layer(self) -> Path:
        """The folder of its files."""
        return self._places.seed / "layer"

    def usable(self) -> bool:
        """Return whether there is one for exactly this root, these services and these passwords."""
        try:
            found = json.loads((self._places.seed / _KEY).read_text())
        except (OSError, ValueError):
            return False
        return bool(found == self._key()) and self.layer.is_dir()

    def take(self) -> bool:
        """Copy another clone's seed, with its passwords, where this cloud has none yet; return whether it did."""
        if self._shared is None or self._places.secrets.exists():
            return False
        return self._shared.take(_KIND, self._made_of(), self._places.directory) and self.usable()

    def save(self, node: NodePlaces) -> None:
        """Take the seed from a node whose databases are shut down.

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
        if self._shared is not None:
            self._shared.put(_KIND, self._made_of(), self._places.seed, self._places.secrets)

    def _made_of(self) -> str:
        return json.dumps({name: value for name, value in self._key().items() if name != "secrets"}, sort_keys=True)

    def _key(self) -> dict[str, str]:
        return {
            "root": _digest([self._places.stamp]),
            "services": _digest(sorted(p for p in (_HERE / "services").rglob("*") if p.suffix in (".py", ".j2"))),
            "makers": _digest([_HERE / name for name in _MAKERS]),
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
