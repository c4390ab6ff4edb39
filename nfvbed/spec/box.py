"""Where a box keeps what a site's file implies: its machines are reached with a key that starting it makes."""

from pathlib import Path

from nfvbed.spec.remote import SshAccessSpec

BOX_DIRECTORY = Path(".nfvbed") / "box"
"""Below the project's root; a folder a site."""


def key_of_box(folder: Path) -> Path:
    """Return the file of the private key, in the folder of a box."""
    return folder / "key"


def known_hosts_of_box(folder: Path) -> Path:
    """Return the file of the host keys, in the folder of a box."""
    return folder / "known_hosts"


def way_into_box(root: Path, site: str) -> SshAccessSpec:
    """Return the way to all machines of a site's box."""
    folder = root.resolve() / BOX_DIRECTORY / site
    return SshAccessSpec(key=key_of_box(folder), known_hosts=known_hosts_of_box(folder))
