"""Builds the images of a box, step by step; what another clone built is taken from NFVBED_CACHE."""

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from nfvbed.cloud.box.images import environments, finish, root
from nfvbed.cloud.box.images.dockerfiles import Dockerfiles, ImageFile, ServiceImage, User
from nfvbed.cloud.box.images.layer import pack
from nfvbed.cloud.box.images.places import ImagePlaces
from nfvbed.cloud.box.images.record import LABEL, OURS, ImageRecord
from nfvbed.cloud.box.images.registry import Storage
from nfvbed.cloud.devcloud.root.lists import read_packages
from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.errors import InternalError, PrerequisiteError
from nfvbed.host import fixes
from nfvbed.sharedcache import SharedCache

NAMESPACE = "kolla"
"""Kolla's own, where `docker_namespace` names no other."""
_HERE = Path(__file__).parent
_KIND = "box-images"
_DISK_MIB = 6 * 1024
"""Packages, the root, its layer and the storage's copy in NFVBED_CACHE."""
_TOOLS = {
    "apt-get": "apt",
    "chroot": "coreutils",
    "mmdebstrap": "mmdebstrap",
    "tar": "tar",
    "unshare": "util-linux",
    "zstd": "zstd",
}
_UNSEEN_GROUPS = {"nova": {"hugetlbfs", "libvirt"}, "qemu": {"hugetlbfs"}}
"""Kolla's users.py has these groups for sockets of vhost-user and libvirt; Debian's Dockerfiles add no user to them."""
_UWSGI = {"UWSGI_PLUGINS": "/usr/lib/uwsgi/plugins/http_plugin.so", "UWSGI_VIRTUALENV": environments.SERVICES.folder}
"""Debian's uWSGI is told where the services are; Kolla builds its own into the environment."""
_STEPS = {
    "root": ("packages.txt", "images.txt", "root.py", "dockerfiles.py", "build.py"),
    "environments": ("services.txt", "toolbox.txt", "collections.txt", "environments.py"),
    "finish": ("finish.py",),
    "layer": ("layer.py",),
}
"""Files that each step follows; it follows what those before it do, too."""

Progress = Callable[[str], None]


class BoxImages:
    """The images that all boxes of a checkout pull, in the storage of a registry.

    Args:
        tell: is given a line for each step, with its duration.
        shared: where another clone's images may be, built from the same lists.
    """

    def __init__(self, places: ImagePlaces, tell: Progress, shared: SharedCache | None = None) -> None:
        self._places = places
        self._tell = tell
        self._shared = shared

    def ready(self) -> bool:
        """Return whether they are built from the present lists."""
        stamp = _read(self._places.stamp)
        record = ImageRecord.read(self._places.storage)
        return record is not None and stamp.get("key") == record.key == self.key()

    def make(self) -> Path:
        """Build what is not there; return the storage's folder.

        Raises:
            PrerequisiteError: this machine lacks something, the network or the disk failed; with what was seen.
        """
        self._require_kolla()
        if self.ready():
            return self._places.storage
        self._places.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._alone():
            if self.ready() or self._take():
                return self._places.storage
            self._require()
            return self._build()

    def key(self) -> str:
        """Return the hash of all that the images are made of."""
        own = sorted(path.name for path in _HERE.iterdir() if path.suffix in (".py", ".txt"))
        return self._hash(tuple(own))

    def _build(self) -> Path:
        places, tool = self._places, Tool(self._places.logs)
        self._step("templates", lambda: _render(places, tool))
        dockerfiles = Dockerfiles(places.dockerfiles)
        names = read_packages(_HERE / "images.txt")
        images = [adapted(dockerfiles.image(name)) for name in names]
        users = users_of(dockerfiles, names)
        kept = ImageRecord.read(places.storage)
        if kept is None or kept.layer_key != self._key_of("layer"):
            self._resume()
            self._once("root", lambda: self._unpack(tool, users))
            self._once("environments", lambda: self._install(tool))
            self._once("finish", lambda: finish.finish(places.root, tool, users.values()))
            self._once("layer", lambda: self._pack(tool))
            kept = self._of_layer()
        return self._store(images, kept)

    def _unpack(self, tool: Tool, users: dict[str, User]) -> str:
        self._step("packages", lambda: root.download(self._places, tool))
        return root.unpack(self._places, tool, users.values())

    def _install(self, tool: Tool) -> str:
        self._step("Python packages", lambda: environments.download(self._places, tool))
        return environments.install(self._places, tool, self._places.uv)

    def _pack(self, tool: Tool) -> str:
        """Pack the layer, and note what is in it."""
        places, versions = self._places, self._versions()
        packages, python = root.installed(places.root, tool), environments.versions(places, tool)
        packed = pack(places.root, places.layer)
        ImageRecord(
            key="",
            layer_key=self._key_of("layer"),
            kolla=versions["kolla"],
            kolla_ansible=versions["kolla_ansible"],
            namespace=NAMESPACE,
            tag="",
            names=(),
            layer=packed.digest,
            layer_bytes=packed.size_bytes,
            diff_id=packed.diff_id,
            packages=packages,
            python=python,
        ).write(places.build)
        return f"{packed.plain_bytes // 2**20} MiB, packed {packed.size_bytes // 2**20} MiB"

    def _of_layer(self) -> ImageRecord:
        found = ImageRecord.read(self._places.build)
        if found is None:
            raise InternalError("the record of a layer is gone", where=str(self._places.build))
        return found

    def _store(self, images: list[ServiceImage], layer: ImageRecord) -> Path:
        places = self._places
        draft = places.build / "storage"
        shutil.rmtree(draft, ignore_errors=True)

        def write() -> str:
            written = Storage(draft)
            file = places.layer if places.layer.is_file() else Storage(places.storage).blob(layer.layer)
            shared = written.add_layer(file, layer.layer, layer.diff_id)
            for image in images:
                written.add_image(f"{NAMESPACE}/{image.name}", _tag(), image, shared)
            names = tuple(image.name for image in images)
            layer.model_copy(update={"key": self.key(), "tag": _tag(), "names": names}).write(draft)
            places.stamp.unlink(missing_ok=True)
            shutil.rmtree(places.storage, ignore_errors=True)
            draft.rename(places.storage)
            places.stamp.write_text(json.dumps({"key": self.key()}))
            return f"{len(images)} images of one layer of {layer.layer_bytes // 2**20} MiB"

        self._step("registry", write)
        if self._shared is not None:
            self._shared.put(_KIND, self.key(), places.storage, places.stamp)
        shutil.rmtree(places.build)
        return places.storage

    def _once(self, name: str, work: Callable[[], str]) -> None:
        """Do a step that is not done yet."""
        done = _read(self._places.steps)
        if name not in done:
            self._step(name, work)
            self._places.steps.write_text(json.dumps({**done, name: self._key_of(name)}))

    def _resume(self) -> None:
        """Keep the steps that were done from the present lists, up to the first that was not."""
        done = _read(self._places.steps) if self._places.root.is_dir() else {}
        kept = dict(takewhile(lambda one: one[1] == self._key_of(one[0]), done.items()))
        self._places.steps.write_text(json.dumps(kept))
        if kept:
            self._tell(f"images: going on after {', '.join(kept)}")

    def _key_of(self, step: str) -> str:
        names = list(_STEPS)
        return self._hash(tuple(file for one in names[: names.index(step) + 1] for file in _STEPS[one]))

    def _hash(self, files: tuple[str, ...]) -> str:
        found = hashlib.sha256(b"".join((_HERE / name).read_bytes() for name in files))
        for name, version in sorted(self._versions().items()):
            found.update(f"{name} {version}\n".encode())
        return found.hexdigest()

    def _step(self, name: str, work: Callable[[], str]) -> None:
        began = time.monotonic()
        self._tell(f"images: {name} ...")
        said = work()
        took = f"{time.monotonic() - began:.0f} s"
        self._tell(f"images: {name} done, {took}{': ' + said if said else ''}")

    def _take(self) -> bool:
        if self._shared is None or not self._shared.take(_KIND, self.key(), self._places.directory):
            return False
        if self.ready():
            self._tell("images: taken from NFVBED_CACHE")
        return self.ready()

    def _versions(self) -> dict[str, str]:
        """Return the versions of Kolla's packages, and of the Ansible whose collections are taken."""
        names = ("kolla", "kolla_ansible", "ansible")
        folders = {
            name: sorted(self._places.kolla.glob(f"lib/python3*/site-packages/{name}-*.dist-info")) for name in names
        }
        return {
            name: found[0].name.removeprefix(f"{name}-").removesuffix(".dist-info")
            for name, found in folders.items()
            if found
        }

    def _require_kolla(self) -> None:
        if {"kolla", "kolla_ansible", "ansible"} - set(self._versions()) or not self._places.uv.is_file():
            raise PrerequisiteError(
                "Kolla's templates of images are not there",
                where=str(self._places.kolla),
                observed=f"versions found: {self._versions()}",
                fix="setup/kolla",
            )

    def _require(self) -> None:
        missing = {program: package for program, package in _TOOLS.items() if shutil.which(program) is None}
        if missing:
            raise PrerequisiteError(
                "programs that build images are not installed",
                where="PATH",
                observed=f"not found: {', '.join(missing)}",
                fix="; ".join(fixes.install(*one) for one in missing.items()),
            )
        if os.geteuid() != 0:
            raise PrerequisiteError(
                "images are built with root privileges", observed=f"user {os.geteuid()}", fix="run it with sudo"
            )
        free = shutil.disk_usage(self._places.directory).free // 2**20
        if free < _DISK_MIB:
            raise PrerequisiteError(
                f"images need {_DISK_MIB} MiB of disk while they are built",
                where=str(self._places.directory),
                observed=f"{free} MiB are free",
                fix="free some where the checkout is, or take images that another clone built (NFVBED_CACHE)",
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._places.lock.open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._tell("images: waiting for another nfvbed that builds them in this folder")
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def adapted(image: ServiceImage) -> ServiceImage:
    """Return an image as it is here: marked as ours, and with what differs from Kolla's."""
    labels = {name: value for name, value in image.labels.items() if name not in ("build-date", "maintainer")}
    files = dict(image.files)
    environment = dict(image.environment)
    if environment["PATH"].startswith(environments.SERVICES.folder):
        environment |= _UWSGI
    if environment["PATH"].startswith(environments.TOOLBOX.folder):
        files[finish.NETDEV_PATH] = ImageFile(finish.netdev_vsctl(), 0o755)
    return replace(image, labels={**labels, LABEL: OURS}, files=files, environment=environment)


def users_of(dockerfiles: Dockerfiles, names: tuple[str, ...]) -> dict[str, User]:
    """Return Kolla's users as the images need them."""
    users = dockerfiles.users(names)
    for name, groups in _UNSEEN_GROUPS.items():
        users[name].groups |= groups
    return users


def _render(places: ImagePlaces, tool: Tool) -> str:
    """Have Kolla's own program render its templates; it asks no container engine for that."""
    shutil.rmtree(places.dockerfiles, ignore_errors=True)
    places.dockerfiles.mkdir(parents=True)
    argv = [str(places.kolla / "bin" / "kolla-build"), "--template-only", "--base", "debian"]
    tool.run("kolla-build", [*argv, "--namespace", NAMESPACE, "--work-dir", str(places.dockerfiles)], 120.0)
    return f"{len(Dockerfiles(places.dockerfiles).names)} of Kolla's"


def _tag() -> str:
    return (_HERE / "tag.txt").read_text().strip()


def _read(path: Path) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found
