"""Where the images of a box are built and kept: below the project's private folder, and nowhere else."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.box.places import IMAGES_DIRECTORY


@dataclass(frozen=True)
class ImagePlaces:
    """The files of the images that all boxes of a checkout pull."""

    directory: Path
    kolla: Path
    """Environment of kolla-ansible, which has Kolla's templates too."""

    uv: Path
    """Program that installs Python packages; it is in the images while they are built."""

    @classmethod
    def of(cls, project_root: Path) -> "ImagePlaces":
        """Return the places of a project's images."""
        private = project_root.resolve() / ".nfvbed"
        return cls(project_root.resolve() / IMAGES_DIRECTORY, private / "kolla", private / "uv" / "bin" / "uv")

    @property
    def storage(self) -> Path:
        """Folder that a registry serves, with the record of what is in it; never written to once it is built."""
        return self.directory / "storage"

    @property
    def stamp(self) -> Path:
        """What the images were built from; written last."""
        return self.directory / "storage.json"

    @property
    def build(self) -> Path:
        """Images that are being built; the logs of the tools stay."""
        return self.directory / "build"

    @property
    def logs(self) -> Path:
        """Output of the tools, by step."""
        return self.directory / "logs"

    @property
    def lock(self) -> Path:
        """Held by the process that builds."""
        return self.directory / "lock"

    @property
    def apt(self) -> Path:
        """Lists of packages of the suite."""
        return self.build / "apt"

    @property
    def archives(self) -> Path:
        """Downloaded packages of Debian's."""
        return self.build / "archives"

    @property
    def wheels(self) -> Path:
        """Downloaded packages of Python's."""
        return self.build / "wheels"

    @property
    def dockerfiles(self) -> Path:
        """Kolla's templates as its own program rendered them."""
        return self.build / "kolla"

    @property
    def root(self) -> Path:
        """Root of all images."""
        return self.build / "root"

    @property
    def layer(self) -> Path:
        """The root as a layer."""
        return self.build / "layer.tar.zst"

    @property
    def steps(self) -> Path:
        """The steps that are done, with what each was done from."""
        return self.build / "steps.json"
