"""The images of a rack in a box: one layer of packages, and under Kolla's names what its own templates say of each."""

from collections.abc import Callable
from pathlib import Path

from nfvbed.cloud.box.images.build import BoxImages
from nfvbed.cloud.box.images.places import ImagePlaces
from nfvbed.cloud.box.images.record import ImageRecord
from nfvbed.sharedcache import SharedCache

__all__ = ["ImageRecord", "storage"]


def storage(root: Path, tell: Callable[[str], None]) -> Path:
    """Return the folder of images that a registry serves; what is missing is built, resumed where it was cut short.

    Args:
        root: of the project.
        tell: is given a line for each step.

    Raises:
        PrerequisiteError: this machine lacks something, the network or the disk failed; with what was seen.
    """
    return BoxImages(ImagePlaces.of(root), tell, SharedCache.from_environment(tell)).make()
