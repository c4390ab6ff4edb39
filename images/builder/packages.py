"""Which packages, in which versions: apt resolves them in a place of its own, from the machine's own sources.

The machine's sources say where its mirror is; nothing here does. The machine's installed packages play no part.
"""

import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from builder.tool import Tool
from nfvbed.errors import PrerequisiteError
from nfvbed.host.aptsources import FORMAT, mirrors_of

COMPONENTS = "main non-free"
"""netperf is in non-free."""
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True, order=True)
class Package:
    """One package as the mirror has it; in Debian its version stands for its content."""

    name: str
    version: str


class PackageSource:
    """apt with its own state in `folder`; the indexes there are read once and kept."""

    def __init__(self, folder: Path, tool: Tool, suite: str = "bookworm") -> None:
        self.folder = folder
        self.suite = suite
        self._tool = tool
        self._list = folder / "sources.list"

    def resolve(self, names: tuple[str, ...]) -> tuple[Package, ...]:
        """Return the packages and all that they depend on, sorted; the indexes are fetched where there are none.

        Raises:
            PrerequisiteError: apt finds no mirror, or not all packages.
        """
        if not self._list.exists():
            self.refresh()
        # The indexes change by refresh alone, which removes what was resolved from them.
        known = self.folder / f"resolved-{hashlib.sha256(' '.join(names).encode()).hexdigest()[:16]}.json"
        if not known.exists():
            lines = self._apt("-qq", "-y", "--print-uris", "install", *names).splitlines()
            found = sorted(_package(line) for line in lines if line.startswith("'"))
            new = known.with_suffix(".new")
            new.write_text(json.dumps([[package.name, package.version] for package in found]))
            new.rename(known)
        return tuple(Package(name, version) for name, version in json.loads(known.read_text()))

    def refresh(self) -> None:
        """Fetch the indexes again."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("state/lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "status").touch()
        new = self.folder / "sources.new"
        new.write_text(self.sources())
        self._apt("-q", "update", sources=new)
        new.rename(self._list)

    def sources(self) -> str:
        """Return apt's entries for the suite with the components that are needed, mirrors as the machine has them."""
        targets = self._tool.run(["apt-get", "indextargets", "--format", FORMAT, "Created-By: Packages"])
        wanted = sorted(row for row in mirrors_of(self.suite, targets) if "backports" not in row[1])
        if not any(release == self.suite for _, release in wanted):
            raise PrerequisiteError(
                f"apt knows no mirror of {self.suite}",
                observed=targets.strip() or "apt knows no suite at all",
                fix="give apt an entry of Debian's main (with `Pin-Priority: -1` where it is another system's),"
                " and run apt-get update",
            )
        signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
        return "".join(f"deb {signed}{uri} {release} {COMPONENTS}\n" for uri, release in wanted)

    def acquire_options(self) -> str:
        """Return the machine's settings for fetching (proxy, validity), as a configuration file of apt."""
        return self._tool.run(["apt-config", "dump", "--no-empty", "Acquire"])

    def _apt(self, *words: str, sources: Path | None = None) -> str:
        options = {
            "Dir::Etc::SourceList": sources or self._list,
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State": self.folder / "state",
            "Dir::State::Status": self.folder / "status",
            "Dir::Cache": self.folder / "cache",
            "APT::Install-Recommends": "false",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root",
        }
        chosen = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        return self._tool.run(["apt-get", *chosen, *words])


def _package(line: str) -> Package:
    """Read a line of `--print-uris`: 'address' name_version_arch.deb size digest."""
    name, version, _ = line.split(" ")[1].removesuffix(".deb").split("_")
    return Package(name, unquote(version))
