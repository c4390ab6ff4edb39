"""Where packages come from: the mirror of the machine's own apt, read when needed and written nowhere."""

from collections.abc import Mapping
from pathlib import Path

from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.errors import PrerequisiteError
from nfvbed.host.aptsources import FORMAT, mirrors_of

SUITE = "bookworm"
BACKPORTS = f"{SUITE}-backports"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_FROM_BACKPORTS = "src:qemu src:seabios"
"""QEMU 7.2 crashes with vhost-user under emulation; the firmware must fit it."""


def sources(tool: Tool) -> str:
    """Return apt's entries for the suite, its updates and backports.

    Raises:
        PrerequisiteError: the machine's apt knows no mirror of it.
    """
    return entries(tool.run("sources", ["apt-get", "indextargets", "--format", FORMAT, "Created-By: Packages"], 60.0))


def entries(targets: str) -> str:
    """Return apt's entries, from the output of `apt-get indextargets`: `address|release|code name` a line.

    Raises:
        PrerequisiteError: the suite is not among them.
    """
    wanted = mirrors_of(SUITE, targets)
    mirrors = sorted(uri for uri, name in wanted if name == SUITE)
    if not mirrors:
        raise PrerequisiteError(
            f"apt knows no mirror of {SUITE}",
            observed=targets.strip() or "apt knows no suite at all",
            fix="give apt an entry of Debian's main (with `Pin-Priority: -1` where it is another system's),"
            " and run apt-get update",
        )
    # Backports lie beside the suite itself, whether the machine uses them or not.
    wanted.add((mirrors[0], BACKPORTS))
    signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
    return "".join(f"deb {signed}{uri} {name} main\n" for uri, name in sorted(wanted))


def preferences(versions: Mapping[str, str]) -> str:
    """Return apt's preferences: each package's tested version, where there is one, and QEMU from backports."""
    blocks = [f"Package: {_FROM_BACKPORTS}\nPin: release n={BACKPORTS}\nPin-Priority: 900\n"]
    blocks += [f"Package: {name}\nPin: version {version}\nPin-Priority: 995\n" for name, version in versions.items()]
    return "\n".join(blocks)


def apt_options(folder: Path, archives: Path) -> list[str]:
    """Return options that make apt work in a folder of its own, where nothing is installed yet.

    Args:
        folder: for its lists, sources and preferences.
        archives: for downloaded packages.
    """
    options = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": folder / "preferences",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::Status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Cache::Archives": archives,
        "APT::Install-Recommends": "false",
        "APT::Architecture": "amd64",
        "APT::Architectures": "amd64",
        "APT::Sandbox::User": "root",
        "APT::Keep-Downloaded-Packages": "true",
        "Binary::apt::APT::Keep-Downloaded-Packages": "true",
    }
    return [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
