"""The kolla-ansible that `setup/kolla` installs, with its Ansible."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.sites.kolla import collectionfolders
from nfvbed.spec.kollarelease import KollaReleaseSpec

_PROGRAMS = ("kolla-ansible", "kolla-genpwd", "ansible-playbook", "ansible-inventory")


@dataclass(frozen=True)
class Toolset:
    """The programs of one environment."""

    directory: Path
    collections: tuple[Path, ...] = ()
    """Folders in which Ansible looks for collections, beside the environment's packages."""

    @classmethod
    def of(cls, project_root: Path, release: KollaReleaseSpec) -> "Toolset":
        """Return the environment of a release.

        Raises:
            PrerequisiteError: it is not there, or not complete.
            UnsupportedError: it has the kolla-ansible of another release, or the release's is for an Ansible whose
                events are not passed on.
        """
        _require_events(release)
        found = cls((project_root / collectionfolders.ENVIRONMENT).resolve(), collectionfolders.folders(project_root))
        missing = [name for name in _PROGRAMS if not found.program(name).is_file()]
        if missing or not found.multinode.is_file():
            raise PrerequisiteError(
                "kolla-ansible is not set up",
                where=str(found.directory),
                observed=f"there is no {', '.join(missing) or found.multinode.name}",
                fix="setup/kolla",
            )
        found.require(release)
        return found

    def program(self, name: str) -> Path:
        """Return the path of one of the environment's programs."""
        return self.directory / "bin" / name

    @property
    def share(self) -> Path:
        """Kolla's playbooks and examples."""
        return self.directory / "share" / "kolla-ansible"

    @property
    def multinode(self) -> Path:
        """Kolla's inventory for several machines."""
        return self.share / "ansible" / "inventory" / "multinode"

    def require(self, release: KollaReleaseSpec) -> None:
        """Make sure that this kolla-ansible belongs to a release.

        Raises:
            UnsupportedError: it is another.
        """
        version = self._version()
        if version.split(".")[:1] == release.kolla_ansible.split(".")[:1]:
            return
        raise UnsupportedError(
            f"{release.title} cannot be deployed with this kolla-ansible",
            where=str(self.program("kolla-ansible")),
            observed=f"it is {version}, and the release's is {release.kolla_ansible}",
            fix="the release of this kolla-ansible (nfvbed kolla releases), or nfvbed kolla render for the other one",
        )

    def _version(self) -> str:
        """Return the version from the package's metadata: the program would import Ansible for it."""
        found = sorted(self.directory.glob("lib/python*/site-packages/kolla_ansible-*.dist-info"))
        return found[-1].name.removeprefix("kolla_ansible-").removesuffix(".dist-info") if found else "not known"


def _require_events(release: KollaReleaseSpec) -> None:
    """Make sure that the stages of a release can be followed by Ansible's events.

    Raises:
        UnsupportedError: they cannot: its Ansible runs on Python 2.7, where what passes events on does not compile.
    """
    if release.asserted_by == "genconfig":
        return
    raise UnsupportedError(
        f"{release.title} is rendered, and nfvbed does not deploy it",
        where=f"kolla-ansible {release.kolla_ansible}",
        observed="its playbooks are for Ansible 2.3 on Python 2.7, which ansible-runner cannot follow: what passes"
        " events on is for Python 3; and nfvbed's own roles are for ansible-core 2.19",
        fix="nfvbed kolla render, and Kolla's own commands (docs/reference/kolla.md#ocata); or --release 2026.1",
    )
