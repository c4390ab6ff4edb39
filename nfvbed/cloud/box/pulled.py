"""Kolla's own images for a box: this machine copies them from their registry, as the box has no way to it.

`skopeo` copies them, digests and all, into Debian's docker-registry, which runs for that time on loopback over the
folder that the registry of the box serves later.
"""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from nfvbed.cloud.box.places import IMAGES_DIRECTORY, PULLED_DIRECTORY
from nfvbed.cloud.devcloud.root.lists import read_packages
from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.errors import PrerequisiteError
from nfvbed.host import fixes
from nfvbed.host.ledger.processes import tail
from nfvbed.patience import patient
from nfvbed.spec import boundedyaml

NAMESPACE = "kolla"
"""First part of the repositories' names in the registry of a box, whose images it ever serves."""
_LISTS = Path(__file__).parent / "images"
_DEFAULTS = "ansible/group_vars/all/common.yml"
_TOOLS = {"docker-registry": "docker-registry", "setpriv": "util-linux", "skopeo": "skopeo"}
_DISK_MIB = 20 * 1024
"""Kolla's images of a cloud, compressed, and room for what is under way."""
_ANSWER_S = 30.0
_COPY_S = 1800.0
_LAST_LINES = 15
_FIX = "check images_from in the site's file, the network and the disk; the same command goes on with this image"
_PLATFORM = ("--override-os", "linux", "--override-arch", "amd64")


class PulledRecord(BaseModel):
    """What was pulled, and from where; it lies in the storage."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    images: Literal["Kolla's"] = "Kolla's"
    source: str
    """Registry and namespace."""
    tag: str
    digests: dict[str, str]
    """Digests of the manifests by image."""

    @property
    def file(self) -> str:
        """Name of its file in the storage."""
        return "images.json"


class PulledImages:
    """Kolla's own images, in the storage of a registry.

    Args:
        project_root: its private folder has the images.
        source: registry and namespace; None: where Kolla's own variables say.
        tell: is given a line for each image.
    """

    def __init__(self, project_root: Path, source: str | None, tell: Callable[[str], None]) -> None:
        private = project_root.resolve()
        self._folder = private / PULLED_DIRECTORY
        self._kolla = private / IMAGES_DIRECTORY.parent / "kolla" / "share" / "kolla-ansible"
        self._given = source
        self._tell = tell
        self._tool = Tool(self._folder / "logs", _FIX)

    @property
    def storage(self) -> Path:
        """Folder that a registry serves."""
        return self._folder / "storage"

    def make(self) -> Path:
        """Copy the images that are not there; return the storage's folder.

        What was copied stays where a later one fails, and the next call goes on after it.

        Raises:
            PrerequisiteError: a program or disk is missing, or an image cannot be copied; with skopeo's last lines.
        """
        source, wanted, tagged = self._source(), names(), tag()
        kept = self._read()
        done = kept.digests if kept is not None and (kept.source, kept.tag) == (source, tagged) else {}
        missing = [name for name in wanted if name not in done]
        if not missing:
            return self.storage
        self._require()
        if not done:
            shutil.rmtree(self.storage, ignore_errors=True)
        self.storage.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._registry() as address:
            for number, name in enumerate(missing, len(done) + 1):
                began = time.monotonic()
                done = {**done, name: self._copy(f"{source}/{name}:{tagged}", f"{address}/{NAMESPACE}/{name}:{tagged}")}
                self._write(PulledRecord(source=source, tag=tagged, digests=done))
                self._tell(f"images: {number} of {len(wanted)}, {name} from {source}, {time.monotonic() - began:.0f} s")
        return self.storage

    def _source(self) -> str:
        if self._given is not None:
            return self._given.rstrip("/")
        path = self._kolla / _DEFAULTS
        try:
            found = boundedyaml.load(path.read_text())
            return f"{found['docker_registry']}/{found['docker_namespace']}"
        except (OSError, KeyError, TypeError) as failure:
            raise PrerequisiteError(
                "Kolla's own variables do not say where its images are",
                where=str(path),
                observed=repr(failure),
                fix="setup/kolla; or images_from in the site's file",
            ) from failure

    def _copy(self, source: str, target: str) -> str:
        """Copy one image; return the digest of its manifest."""
        digests = self._folder / "digest"
        digests.unlink(missing_ok=True)
        argv = ["skopeo", *_PLATFORM, "copy", "--preserve-digests", "--retry-times", "2"]
        argv += [f"--src-tls-verify={json.dumps(not is_loopback(source))}", "--dest-tls-verify=false"]
        argv += ["--digestfile", str(digests), f"docker://{source}", f"docker://{target}"]
        self._tool.run("skopeo", argv, _COPY_S)
        return digests.read_text().strip()

    @contextmanager
    def _registry(self) -> Iterator[str]:
        """Run a registry over the storage on loopback; gives its address."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        path, log = self._folder / "registry.yml", self._folder / "logs" / "docker-registry.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "version: 0.1\n"
            f"storage: {{filesystem: {{rootdirectory: {json.dumps(str(self.storage))}}}}}\n"
            f"http: {{addr: {json.dumps(address)}}}\n"
        )
        argv = ["setpriv", "--pdeathsig", "KILL", "--", "docker-registry", "serve", str(path)]
        with log.open("w") as output:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            wait_until_it_answers(address, process, log)
            yield address
        finally:
            process.terminate()
            process.wait()

    def _require(self) -> None:
        missing = {program: package for program, package in _TOOLS.items() if shutil.which(program) is None}
        if missing:
            raise PrerequisiteError(
                "programs that copy images are not installed",
                where="PATH",
                observed=f"not found: {', '.join(missing)}",
                fix="; ".join(fixes.install(*one) for one in missing.items()),
            )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = shutil.disk_usage(self._folder).free // 2**20
        if free < _DISK_MIB:
            raise PrerequisiteError(
                f"Kolla's images need {_DISK_MIB} MiB of disk",
                where=str(self._folder),
                observed=f"{free} MiB are free",
                fix="free some where the checkout is; or images: build, which takes 430 MiB",
            )

    def _read(self) -> PulledRecord | None:
        try:
            return PulledRecord.model_validate_json((self.storage / "images.json").read_text())
        except (OSError, ValueError):
            return None

    def _write(self, record: PulledRecord) -> None:
        (self.storage / record.file).write_text(json.dumps(record.model_dump(), indent=1, sort_keys=True) + "\n")


def names() -> tuple[str, ...]:
    """Return the images that a cloud of nfvbed's variables asks for."""
    return tuple(read_packages(_LISTS / "images.txt"))


def tag() -> str:
    """Return the tag by which they are asked for."""
    return (_LISTS / "tag.txt").read_text().strip()


def is_loopback(source: str) -> bool:
    """Return whether a registry is on this machine: as with Docker's engine, it needs no TLS then."""
    host = source.partition("/")[0].rpartition(":")[0] or source.partition("/")[0]
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def wait_until_it_answers(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait for a registry on this machine.

    Raises:
        PrerequisiteError: it has ended, or answers nothing; with the last lines of its log.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + patient(_ANSWER_S)
    while True:
        try:
            with opener.open(f"http://{address}/v2/", timeout=_ANSWER_S):
                return
        except urllib.error.URLError as failure:
            if process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
                continue
            raise PrerequisiteError(
                "docker-registry does not answer",
                where=f"http://{address}/v2/",
                observed=tail(log, _LAST_LINES) or str(failure),
                fix=f"what its log says: {log}",
            ) from failure
