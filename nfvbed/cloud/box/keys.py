"""The way into the machines of a box over SSH: a key, and the host keys, which are made before a machine starts."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from nfvbed.cloud.box.places import BoxPlaces
from nfvbed.errors import PrerequisiteError
from nfvbed.host import fixes
from nfvbed.wholefile import write_whole

_HOST_KEY = Path("etc/ssh/ssh_host_ed25519_key")


def make_key(places: BoxPlaces) -> None:
    """Make the key of the way in; one that is there stays.

    Raises:
        PrerequisiteError: ssh-keygen is not there, or failed.
    """
    if not places.key.is_file():
        _generate(places.key, f"nfvbed box {places.name}")


def furnish(places: BoxPlaces, name: str) -> None:
    """Give a machine's layer its host key, and let the key of the way in sign in as root."""
    layer = places.machine(name).layer
    host_key, folder = layer / _HOST_KEY, layer / "root/.ssh"
    host_key.parent.mkdir(parents=True, exist_ok=True)
    if not host_key.is_file():
        _generate(host_key, name)
    folder.mkdir(parents=True, exist_ok=True)
    for made in (folder.parent, folder):
        made.chmod(0o700)
    shutil.copy(places.key.with_suffix(".pub"), folder / "authorized_keys")


def write_known_hosts(places: BoxPlaces, addresses: Mapping[str, str]) -> None:
    """Write the host keys of the machines.

    Args:
        addresses: by the machines' names.
    """
    lines = []
    for name, address in addresses.items():
        public = (places.machine(name).layer / _HOST_KEY).with_suffix(".pub")
        kind, key, *_ = public.read_text().split()
        lines.append(f"{address} {kind} {key}\n")
    write_whole(places.known_hosts, "".join(lines), 0o644)


def _generate(path: Path, comment: str) -> None:
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except FileNotFoundError as failure:
        raise PrerequisiteError(
            "ssh-keygen is not installed",
            where="PATH",
            observed="not found",
            fix=fixes.install("ssh-keygen", "openssh-client"),
        ) from failure
    if done.returncode != 0:
        raise PrerequisiteError(
            "a key for SSH could not be made",
            where=str(path),
            observed=done.stderr.strip() or f"exit status {done.returncode}",
            fix="see whether the disk is full",
        )
