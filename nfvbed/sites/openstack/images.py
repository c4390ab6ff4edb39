"""The images of VNFs in Glance: each once, under a name with its digest, which is checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openstack.connection import Connection

from nfvbed.cloud.tacker.connection import asking, identity
from nfvbed.cloud.tacker.journal import Journal, Note
from nfvbed.errors import OnboardError
from nfvbed.host.qemu.images import Image
from nfvbed.vnfs.descriptors.cloudimage import CloudImage, checksums

PREFIX = "nfvbed-"
KEPT, KIND = "kept", "image"
"""In the journal: the owner of what outlives deployments, and what it is."""
_DIGITS = 12
AGENT_PROPERTY: Mapping[str, Any] = {"hw_qemu_guest_agent": "yes"}
"""Has Nova give instances the channel on which libvirt asks an agent inside: nfvbed's speaks that protocol."""
_ROLE = "the role `member` in this project, with which a project has private images of its own"


def name_of(vnf: str, image: Image) -> str:
    """Return the name of an image in Glance: other content gets another name."""
    return f"{PREFIX}{vnf}-{image.digest[:_DIGITS]}"


@dataclass(frozen=True)
class GlanceImage:
    """An image in Glance, and the file that was uploaded as it."""

    name: str
    file: Image

    @property
    def described(self) -> CloudImage:
        """The image as descriptors name it."""
        version = self.file.sidecar.version if self.file.sidecar else "1"
        return CloudImage(self.name, checksums=checksums(self.file.path), version=version)


def provide(connection: Connection, vnf: str, image: Image, *, has_agent: bool = False) -> tuple[str, bool]:
    """Make sure that an image is in Glance.

    Args:
        vnf: name of the VNF that the image is of.
        image: the file, already checked.
        has_agent: whether nfvbed's agent is in it.

    Returns:
        Its name there, and whether it had to be uploaded.

    Raises:
        OnboardError: what Glance has under this name is something else, or it does not take it.
        UnsupportedError: these credentials may not have images.
    """
    with asking(f"the image of {vnf} in Glance", _ROLE):
        return _provide(connection, name_of(vnf, image), image, AGENT_PROPERTY if has_agent else {})


def keep(connection: Connection, journal: Journal | None, vnf: str, image: Image, *, has_agent: bool = False) -> str:
    """Make sure that an image is in Glance, and return its name there; in a foreign cloud its upload is recorded.

    Args:
        journal: record of what is made in a foreign cloud; None: the cloud is nfvbed's own.
        image: the file, already checked.
        has_agent: as for `provide`.

    Raises:
        OnboardError, UnsupportedError: as `provide`.
    """
    name, made = provide(connection, vnf, image, has_agent=has_agent)
    if made and journal is not None:
        journal.write(Note(KIND, name, KEPT, vnf, identity(connection)))
    return name


def _provide(connection: Connection, name: str, image: Image, properties: Mapping[str, Any]) -> tuple[str, bool]:
    wanted = checksums(image.path)["sha512"]
    found = connection.image.find_image(name)
    if found is not None and found.status == "active":
        _check(name, found.hash_algo, found.hash_value, wanted)
        return name, False
    if found is not None:
        connection.image.delete_image(found.id)
    made = connection.image.create_image(
        name,
        filename=str(image.path),
        disk_format=image.format,
        container_format="bare",
        visibility="private",
        wait=True,
        nfvbed_sha256=image.digest,
        **properties,
    )
    made = connection.image.get_image(made.id)
    try:
        _check(name, made.hash_algo, made.hash_value, wanted)
    except OnboardError:
        connection.image.delete_image(made.id)
        raise
    return name, True


def _check(name: str, algorithm: str | None, found: str | None, wanted: str) -> None:
    if algorithm == "sha512" and found != wanted:
        raise OnboardError(
            "Glance has another image under this name",
            where=name,
            observed=f"sha512 {found}, expected {wanted}",
            fix="see whose it is (openstack image show); remove it if no instance boots from it (openstack image"
            " delete), then again",
        )
