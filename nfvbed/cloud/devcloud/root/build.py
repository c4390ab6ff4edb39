"""Builds the private root: downloads packages, unpacks them by mmdebstrap, and adds Tacker."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.root.lists import Wheel, read_packages, read_versions, read_wheels
from nfvbed.cloud.devcloud.root.sources import apt_options, preferences, sources
from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.errors import InternalError
from nfvbed.sharedcache import SharedCache

SUITE = "bookworm"
TACKER = "/opt/tacker"
_HERE = Path(__file__).parent
_LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
_SITE = "usr/local/lib/python3.11/dist-packages"
_ONE_THREAD = _HERE / "one-thread.pth"
"""Horizon's style sheets are compiled when it is configured, in four threads with a compiler that has state of its own:
now and then that fails with a syntax error. While the root is built, Python's pools have one thread."""
_KIND = "devcloud-root"
_DOWNLOAD_S = 1800.0
_UNPACK_S = 1800.0


class PrivateRoot:
    """The private root of a cloud, which its nodes share.

    Args:
        shared: where another clone's root may be, built from the same lists.
    """

    def __init__(self, places: CloudPlaces, shared: SharedCache | None = None) -> None:
        self._places = places
        self._shared = shared

    def ready(self) -> bool:
        """Return whether it is built from the present lists."""
        return self._read_stamp().get("key") == _key() and self._places.root.is_dir()

    def differences(self) -> tuple[str, ...]:
        """Return the packages that differ from the tested set, as `name tested -> built`."""
        built = self._read_stamp().get("versions", {})
        if not isinstance(built, dict):
            raise InternalError("the private root's stamp cannot be read", where=str(self._places.stamp))
        return differences(read_versions(), built)

    def download(self) -> str:
        """Download the packages that are not here yet; nothing to do where another clone's root is used.

        Raises:
            PrerequisiteError: the mirror or the index cannot be reached, or lacks something.
        """
        if self.ready():
            return "built already"
        if self._take():
            return "from NFVBED_CACHE"
        places, tool = self._places, self._tool()
        apt = places.build / "apt"
        for folder in ("lists/partial", "cache/archives/partial"):
            (apt / folder).mkdir(parents=True, exist_ok=True)
        (places.archives / "partial").mkdir(parents=True, exist_ok=True)
        (apt / "status").touch()
        (apt / "sources.list").write_text(sources(tool))
        (apt / "preferences").write_text(preferences(read_versions()))
        options = apt_options(apt, places.archives)
        tool.run("apt-update", ["apt-get", *options, "-q", "update"], _DOWNLOAD_S)
        words = ["-q", "-y", "--download-only", "install", "?essential", "apt", *read_packages()]
        tool.run("apt-download", ["apt-get", *options, *words], _DOWNLOAD_S)
        for wheel in read_wheels():
            self._download(wheel, tool)
        return f"{len(list(places.archives.glob('*.deb')))} packages"

    def _take(self) -> bool:
        if self._shared is None or not self._shared.take(_KIND, _key(), self._places.directory):
            return False
        return self.ready()

    def _download(self, wheel: Wheel, tool: Tool) -> None:
        target = self._places.wheels / wheel.file
        if not target.is_file():
            self._places.wheels.mkdir(parents=True, exist_ok=True)
            pip = ["/usr/bin/python3", "-m", "pip", "download", "--no-deps", "--dest", str(self._places.wheels)]
            tool.run("pip-download", [*pip, f"{wheel.name}=={wheel.version}"], _DOWNLOAD_S)
        wheel.check(target)

    def build(self) -> str:
        """Unpack and configure the packages; the root appears only when it is complete.

        Raises:
            PrerequisiteError: a tool failed; with its last lines.
        """
        if self.ready():
            return "built already"
        places, tool = self._places, self._tool()
        draft = places.build / "root"
        shutil.rmtree(draft, ignore_errors=True)
        tool.run("mmdebstrap", self.unpack_argv(draft), _UNPACK_S, {"RUNLEVEL": "1"})
        self._add_tacker(draft, tool)
        for name in ("var/cache/apt/archives", "var/lib/apt/lists", "tmp"):
            for path in (draft / name).iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        versions = _installed(tool, draft)
        places.stamp.unlink(missing_ok=True)
        shutil.rmtree(places.root, ignore_errors=True)
        draft.rename(places.root)
        places.stamp.write_text(json.dumps({"key": _key(), "versions": versions}))
        if self._shared is not None:
            self._shared.put(_KIND, _key(), places.root, places.stamp)
        return f"{len(versions)} packages, {len(self.differences())} not of the tested set"

    def unpack_argv(self, target: Path) -> list[str]:
        """Return mmdebstrap's command line."""
        apt, archives = self._places.build / "apt", self._places.archives
        argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]
        argv += ["mmdebstrap", "--mode=root", "--variant=apt", "--format=directory"]
        argv += [f"--include={','.join(read_packages())}", '--aptopt=APT::Install-Recommends "false"']
        argv += ["--dpkgopt=force-unsafe-io", *(f"--dpkgopt=path-exclude={path}" for path in _LEFT_OUT)]
        # The packages that were downloaded are found where apt would put them.
        argv += ["--skip=download/empty", "--skip=essential/unlink", "--skip=cleanup/apt/cache"]
        argv += ['--setup-hook=mkdir -p "$1/var/cache/apt/archives"']
        argv += [f"--setup-hook=sync-in {archives} /var/cache/apt/archives"]
        argv += [f"--setup-hook=upload {apt}/preferences /etc/apt/preferences.d/devcloud"]
        argv += [
            f'--essential-hook=mkdir -p "$1/{_SITE}"',
            f"--essential-hook=upload {_ONE_THREAD} /{_SITE}/one-thread.pth",
        ]
        argv += [f'--customize-hook=rm "$1/{_SITE}/one-thread.pth"']
        return [*argv, SUITE, str(target), str(apt / "sources.list")]

    def _add_tacker(self, root: Path, tool: Tool) -> None:
        inside = ["chroot", str(root)]
        tool.run("tacker", [*inside, "/usr/bin/python3", "-m", "venv", "--system-site-packages", TACKER], 300.0)
        wheels = [wheel.file for wheel in read_wheels()]
        for name in wheels:
            shutil.copy(self._places.wheels / name, root / "tmp" / name)
        pip = [*inside, f"{TACKER}/bin/python", "-m", "pip", "install", "--no-index", "--no-deps", "--ignore-installed"]
        tool.run("tacker", [*pip, *(f"/tmp/{name}" for name in wheels)], 300.0)
        user = ["--system", "--user-group", "--home-dir", "/var/lib/tacker", "--create-home"]
        tool.run("tacker", [*inside, "/usr/sbin/useradd", *user, "--shell", "/usr/sbin/nologin", "tacker"], 30.0)

    def _tool(self) -> Tool:
        return Tool(self._places.build / "logs")

    def _read_stamp(self) -> dict[str, object]:
        try:
            found: dict[str, object] = json.loads(self._places.stamp.read_text())
        except (OSError, ValueError):
            return {}
        return found


def differences(tested: Mapping[str, str], built: Mapping[str, str]) -> tuple[str, ...]:
    """Return the packages whose built version is not the tested one."""
    names = sorted({*tested, *built})
    pairs = [(name, tested.get(name, "none"), built.get(name, "none")) for name in names]
    return tuple(f"{name} {old} -> {new}" for name, old, new in pairs if old != new)


def _installed(tool: Tool, root: Path) -> dict[str, str]:
    text = tool.run("versions", ["chroot", str(root), "dpkg-query", "-W", "-f", "${Package} ${Version}\n"], 60.0)
    return dict(line.split() for line in text.splitlines() if line)


def _key() -> str:
    names = ("packages.txt", "versions.txt", "wheels.txt", "one-thread.pth", "build.py", "sources.py")
    return hashlib.sha256(b"".join((_HERE / name).read_bytes() for name in names)).hexdigest()
