"""The Python environments of the images: one for all services, one for the toolbox; of pinned, hashed packages."""

import json
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.box.images.places import ImagePlaces
from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.errors import PrerequisiteError
from nfvbed.spec import boundedyaml
from nfvbed.spec.textfile import read_text

_HERE = Path(__file__).parent
_COLLECTIONS = "usr/share/ansible/collections"
_BELOW = "ansible_collections"
_INSIDE = Path("/opt/nfvbed-build")
_PYTHON = "3.13"
"""Python version of Debian 13."""
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "linux_x86_64", "any")
_DOWNLOAD_S = 1800.0
_INSTALL_S = 1800.0


@dataclass(frozen=True)
class Environment:
    """A Python environment of the images."""

    name: str
    """Name of its list of pinned packages."""
    folder: str
    """Place in the images, as Kolla's templates have it."""

    @property
    def pins(self) -> Path:
        """Its list: exact versions with hashes."""
        return _HERE / f"{self.name}.txt"


SERVICES = Environment("services", "/var/lib/kolla/venv")
TOOLBOX = Environment("toolbox", "/opt/ansible")
ENVIRONMENTS = (SERVICES, TOOLBOX)
COLLECTIONS = Environment("collections", "")
"""A package of Ansible's collections: only its list is used."""


def download(places: ImagePlaces, tool: Tool) -> str:
    """Download the packages that are not here yet.

    Raises:
        PrerequisiteError: the index cannot be reached, or a package is not the pinned one.
    """
    for one in (*ENVIRONMENTS, COLLECTIONS):
        folder = places.wheels / one.name
        folder.mkdir(parents=True, exist_ok=True)
        argv = ["/usr/bin/python3", "-m", "pip", "--no-input", "--disable-pip-version-check", "download", "--quiet"]
        argv += ["--no-deps", "--require-hashes", "--requirement", str(one.pins), "--dest", str(folder)]
        argv += ["--python-version", _PYTHON, "--implementation", "cp"]
        argv += [word for abi in ("cp313", "abi3", "none") for word in ("--abi", abi)]
        argv += [word for platform in _PLATFORMS for word in ("--platform", platform)]
        tool.run("pip-download", argv, _DOWNLOAD_S)
    return f"{sum(len(list((places.wheels / one.name).iterdir())) for one in ENVIRONMENTS)} packages"


def install(places: ImagePlaces, tool: Tool, uv: Path) -> str:
    """Make both environments in the root, without a network.

    Raises:
        PrerequisiteError: a tool failed; with its last lines.
    """
    inside = places.root / _INSIDE.relative_to("/")
    shutil.rmtree(inside, ignore_errors=True)
    try:
        inside.mkdir(parents=True)
        shutil.copy(uv, inside / "uv")
        for one in ENVIRONMENTS:
            shutil.copytree(places.wheels / one.name, inside / one.name)
            shutil.copy(one.pins, inside / f"{one.name}.txt")
            shutil.rmtree(places.root / one.folder.lstrip("/"), ignore_errors=True)
            _enter(places.root, tool, ["/usr/bin/python3", "-m", "venv", "--system-site-packages", one.folder])
            # Kolla's scripts name it so, whatever the version.
            (places.root / one.folder.lstrip("/") / "lib" / "python3").symlink_to(f"python{_PYTHON}")
            argv = [str(_INSIDE / "uv"), "pip", "install", "--quiet", "--python", f"{one.folder}/bin/python"]
            argv += ["--offline", "--no-index", "--no-deps"]
            argv += ["--require-hashes", "--compile-bytecode", "--link-mode", "copy", "--no-cache"]
            place = {"UV_FIND_LINKS": str(_INSIDE / one.name)}
            _enter(places.root, tool, [*argv, "--requirements", str(_INSIDE / f"{one.name}.txt")], place)
    finally:
        shutil.rmtree(inside, ignore_errors=True)
    return f"{add_collections(places)} of Ansible's collections"


def versions(places: ImagePlaces, tool: Tool) -> dict[str, dict[str, str]]:
    """Return the versions of each environment's packages."""
    found = {}
    for one in ENVIRONMENTS:
        argv = [f"{one.folder}/bin/python", "-m", "pip", "--disable-pip-version-check", "list", "--local"]
        listed = json.loads(_enter(places.root, tool, [*argv, "--format", "json"]))
        found[one.name] = {str(each["name"]): str(each["version"]) for each in listed}
    return found


def wanted_collections(places: ImagePlaces) -> tuple[str, ...]:
    """Return the names of the collections of Kolla's toolbox, with those that these need, as `openstack.cloud`.

    Raises:
        PrerequisiteError: the environment of kolla-ansible is not there, or lacks one.
    """
    path = places.kolla / "share/kolla/docker/kolla-toolbox/requirements.yml"
    waiting = [str(one["name"]) for one in boundedyaml.load(read_text(path))["collections"]]
    found: dict[str, None] = {}
    with _archive(places) as archive:
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found[name] = None
                about = json.loads(_file(places, archive, name, "MANIFEST.json"))["collection_info"]
                waiting += about.get("dependencies") or {}
    return tuple(found)


def add_collections(places: ImagePlaces) -> int:
    """Copy the toolbox's collections into the root; return how many there are."""
    target = places.root / _COLLECTIONS / _BELOW
    shutil.rmtree(target, ignore_errors=True)
    names = wanted_collections(places)
    with _archive(places) as archive:
        for name in names:
            below = name.replace(".", "/")
            source = _installed(places) / below
            if source.is_dir():
                shutil.copytree(source, target / below, ignore=shutil.ignore_patterns("tests", "__pycache__"))
                continue
            prefix = f"{_BELOW}/{below}/"
            members = [one for one in archive.namelist() if one.startswith(prefix) and "/tests/" not in one]
            archive.extractall(target.parent, members)
    return len(names)


def _file(places: ImagePlaces, archive: zipfile.ZipFile, name: str, file: str) -> bytes:
    below = f"{name.replace('.', '/')}/{file}"
    try:
        if (_installed(places) / below).is_file():
            return (_installed(places) / below).read_bytes()
        return archive.read(f"{_BELOW}/{below}")
    except KeyError as failure:
        raise PrerequisiteError(
            f"no package here has Ansible's collection {name}",
            where=str(_installed(places)),
            observed=f"nor has {COLLECTIONS.pins.name}",
            fix="setup/kolla; else name a package that has it in collections.in and run setup/box-images pin",
        ) from failure


def _installed(places: ImagePlaces) -> Path:
    found = sorted((places.kolla / "lib").glob(f"python3*/site-packages/{_BELOW}"))
    return found[0] if found else places.kolla / _BELOW


def _archive(places: ImagePlaces) -> zipfile.ZipFile:
    return zipfile.ZipFile(next((places.wheels / COLLECTIONS.name).glob("*.whl")))


def _enter(root: Path, tool: Tool, argv: Sequence[str], more: Mapping[str, str] | None = None) -> str:
    """Run a program in the root, where it sees processes of its own alone."""
    space = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root}/proc", "--"]
    clean = ["env", "--ignore-environment", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/root"]
    clean += [f"{name}={value}" for name, value in (more or {}).items()]
    return tool.run("environments", [*space, "chroot", str(root), *clean, *argv], _INSTALL_S)
