"""Builds the root of the machines of a box: Debian packages by mmdebstrap, and what makes machines of them."""

import hashlib
import json
import shutil
from pathlib import Path

from nfvbed.cloud.box.furnish import furnish
from nfvbed.cloud.box.places import RootPlaces
from nfvbed.cloud.devcloud.root.lists import read_packages
from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.errors import PrerequisiteError
from nfvbed.host import fixes
from nfvbed.host.aptsources import FORMAT, mirrors_of
from nfvbed.sharedcache import SharedCache

SUITE = "trixie"
_HERE = Path(__file__).parent
_LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
_PROC_MODULES = _HERE / "procmodules.py"
_INSTALLED = "nfvbed_procmodules"
"""Its name as a module of the machines' Python, which imports it when it starts."""
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_KIND = "box-root"
_BUILD_S = 1800.0


class MachineRoot:
    """The root that all machines of a box share.

    Args:
        shared: where another clone's root may be, built from the same lists.
    """

    def __init__(self, places: RootPlaces, shared: SharedCache | None = None) -> None:
        self._places = places
        self._shared = shared

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._places.root

    def ready(self) -> bool:
        """Return whether it is built from the present lists."""
        try:
            stamp = json.loads(self._places.stamp.read_text())
        except (OSError, ValueError):
            return False
        return bool(stamp.get("key") == _key()) and self._places.root.is_dir()

    def build(self) -> str:
        """Build it where it is not there; return what there is to say of that.

        Raises:
            PrerequisiteError: the mirror cannot be reached, or a tool failed; with its last lines.
        """
        if self.ready():
            return "built already"
        self._places.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._shared is not None and self._shared.take(_KIND, _key(), self._places.directory) and self.ready():
            return "from NFVBED_CACHE"
        if shutil.which("mmdebstrap") is None:
            raise PrerequisiteError(
                "mmdebstrap is not installed",
                where="PATH",
                observed="not found",
                fix=fixes.install("mmdebstrap", "mmdebstrap"),
            )
        tool, draft = Tool(self._places.build / "logs"), self._places.build / "root"
        shutil.rmtree(draft, ignore_errors=True)
        self._places.build.mkdir(exist_ok=True)
        entries = self._places.build / "sources.list"
        targets = ["apt-get", "indextargets", "--format", FORMAT, "Created-By: Packages"]
        entries.write_text(sources(tool.run("sources", targets, 60.0)))
        tool.run("mmdebstrap", unpack_argv(draft, entries), _BUILD_S, {"RUNLEVEL": "1"})
        _add_proc_modules(draft)
        furnish(draft)
        shown = ["chroot", str(draft), "dpkg-query", "-W", "-f", "${Package} ${Version}\n"]
        versions = dict(line.split() for line in tool.run("versions", shown, 60.0).splitlines())
        self._places.stamp.unlink(missing_ok=True)
        shutil.rmtree(self._places.root, ignore_errors=True)
        draft.rename(self._places.root)
        self._places.stamp.write_text(json.dumps({"key": _key(), "versions": versions}))
        if self._shared is not None:
            self._shared.put(_KIND, _key(), self._places.root, self._places.stamp)
        return f"{len(versions)} packages"


def sources(targets: str) -> str:
    """Return apt's entries for the suite, from the output of `apt-get indextargets` on this machine.

    Raises:
        PrerequisiteError: the machine's apt knows no mirror of Debian.
    """
    mirrors = mirrors_of(SUITE, targets)
    if not any(name == SUITE for _, name in mirrors):
        raise PrerequisiteError(
            f"apt knows no mirror of {SUITE}",
            observed=targets.strip() or "apt knows no suite at all",
            fix="give apt an entry of Debian's main (with `Pin-Priority: -1` where it is another system's),"
            " and run apt-get update",
        )
    signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
    return "".join(f"deb {signed}{uri} {name} main\n" for uri, name in sorted(mirrors))


def unpack_argv(target: Path, entries: Path) -> list[str]:
    """Return mmdebstrap's command line.

    Args:
        entries: file of apt's entries.
    """
    argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]
    argv += ["mmdebstrap", "--mode=root", "--variant=apt", "--format=directory"]
    argv += [f"--include={','.join(read_packages(_HERE / 'packages.txt'))}", '--aptopt=APT::Install-Recommends "false"']
    argv += ["--dpkgopt=force-unsafe-io", *(f"--dpkgopt=path-exclude={path}" for path in _LEFT_OUT)]
    return [*argv, SUITE, str(target), str(entries)]


def _add_proc_modules(root: Path) -> None:
    folders = sorted((root / "usr/lib").glob("python3.[0-9]*"))
    for folder in folders:
        target = root / "usr/local/lib" / folder.name / "dist-packages"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(_PROC_MODULES, target / f"{_INSTALLED}.py")
        (target / f"{_INSTALLED}.pth").write_text(f"import {_INSTALLED}; {_INSTALLED}.install()\n")


def _key() -> str:
    names = ("packages.txt", "procmodules.py", "root.py", "furnish.py")
    return hashlib.sha256(b"".join((_HERE / name).read_bytes() for name in names)).hexdigest()
