"""Builds the root of all images: Debian packages by mmdebstrap, with Kolla's users in place before any package asks."""

import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

from nfvbed.cloud.box.images.dockerfiles import User
from nfvbed.cloud.box.images.places import ImagePlaces
from nfvbed.cloud.box.root import SUITE, sources
from nfvbed.cloud.devcloud.root.lists import read_packages
from nfvbed.cloud.devcloud.root.sources import apt_options
from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.host.aptsources import FORMAT

PACKAGES = Path(__file__).parent / "packages.txt"
_LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
_SYSTEM_IDS = "LAST_SYSTEM_UID=59999\nLAST_SYSTEM_GID=59999\n"
"""Kolla's users have large numbers, and packages look for theirs among the system's (as its Dockerfile of base)."""
_DOWNLOAD_S = 1800.0
_UNPACK_S = 3600.0


def download(places: ImagePlaces, tool: Tool) -> str:
    """Download the packages that are not here yet.

    Raises:
        PrerequisiteError: the mirror cannot be reached, or lacks something.
    """
    for folder in ("lists/partial", "cache/archives/partial"):
        (places.apt / folder).mkdir(parents=True, exist_ok=True)
    (places.archives / "partial").mkdir(parents=True, exist_ok=True)
    (places.apt / "status").touch()
    (places.apt / "preferences").touch()
    targets = ["apt-get", "indextargets", "--format", FORMAT, "Created-By: Packages"]
    (places.apt / "sources.list").write_text(sources(tool.run("sources", targets, 60.0)))
    options = apt_options(places.apt, places.archives)
    tool.run("apt-update", ["apt-get", *options, "-q", "update"], _DOWNLOAD_S)
    words = ["-q", "-y", "--download-only", "install", "?essential", "apt", *read_packages(PACKAGES)]
    tool.run("apt-download", ["apt-get", *options, *words], _DOWNLOAD_S)
    return f"{len(list(places.archives.glob('*.deb')))} packages"


def unpack(places: ImagePlaces, tool: Tool, users: Iterable[User]) -> str:
    """Unpack and configure the packages; the root appears only when it is complete.

    Raises:
        PrerequisiteError: a tool failed; with its last lines.
    """
    draft, shared = places.build / "root.new", places.build / "etc"
    for folder in (draft, places.root, shared):
        shutil.rmtree(folder, ignore_errors=True)
    shared.mkdir(parents=True)
    for name, text in user_files(users).items():
        (shared / name).write_text(text)
    tool.run("mmdebstrap", unpack_argv(places, draft), _UNPACK_S, {"RUNLEVEL": "1"})
    for path in (draft / "var/lib/apt/lists").iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    draft.rename(places.root)
    return f"{len(installed(places.root, tool))} packages"


def installed(root: Path, tool: Tool) -> dict[str, str]:
    """Return the versions of a root's packages."""
    shown = ["chroot", str(root), "dpkg-query", "-W", "-f", "${Package} ${Version}\n"]
    return dict(line.split() for line in tool.run("versions", shown, 60.0).splitlines() if line)


def unpack_argv(places: ImagePlaces, target: Path) -> list[str]:
    """Return mmdebstrap's command line."""
    argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]
    argv += ["mmdebstrap", "--mode=root", "--variant=apt", "--format=directory"]
    argv += [f"--include={','.join(read_packages(PACKAGES))}", '--aptopt=APT::Install-Recommends "false"']
    argv += ["--dpkgopt=force-unsafe-io", "--dpkgopt=force-confold"]
    argv += [f"--dpkgopt=path-exclude={path}" for path in _LEFT_OUT]
    # The packages that were downloaded are found where apt would put them.
    argv += ["--skip=download/empty", "--skip=essential/unlink"]
    argv += ['--setup-hook=mkdir -p "$1/var/cache/apt/archives" "$1/usr/sbin"']
    argv += [f"--setup-hook=sync-in {shlex.quote(str(places.archives))} /var/cache/apt/archives"]
    # No service starts in here, and users are Kolla's before a package makes its own.
    shared = shlex.quote(str(places.build / "etc"))
    argv += [f'--essential-hook=for file in passwd shadow group; do cat {shared}/$file >>"$1/etc/$file"; done']
    argv += [f'--essential-hook=cp {shared}/adduser.conf "$1/etc/adduser.conf"']
    argv += [f'--essential-hook=install -m 755 {shared}/policy-rc.d "$1/usr/sbin/policy-rc.d"']
    argv += ['--customize-hook=rm "$1/usr/sbin/policy-rc.d"']
    return [*argv, SUITE, str(target), str(places.apt / "sources.list")]


def user_files(users: Iterable[User]) -> dict[str, str]:
    """Return what is added to the files of users, by their names, and other files that are there early."""
    ordered = sorted(users, key=lambda one: one.uid)
    passwd = [f"{one.name}:x:{one.uid}:{one.gid}::{one.home}:{one.shell}\n" for one in ordered]
    shadow = [f"{one.name}:!:19000::::::\n" for one in ordered]
    group = []
    for one in ordered:
        members = sorted(other.name for other in ordered if one.group in other.groups)
        group.append(f"{one.group}:x:{one.gid}:{','.join(members)}\n")
    return {
        "passwd": "".join(passwd),
        "shadow": "".join(shadow),
        "group": "".join(group),
        "adduser.conf": _SYSTEM_IDS,
        "policy-rc.d": "#!/bin/sh\nexit 101\n",
    }
