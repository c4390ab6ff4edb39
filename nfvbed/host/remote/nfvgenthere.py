"""nfvgen on another host: its ports, found by MAC address, and a copy of this machine's program where there is none.

The copy has its libraries and its loader beside it, so that it runs with whatever the host has installed. DPDK's
drivers are not among them: a copy opens devices of the kernel.
"""

import json
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.native import native_binary
from nfvbed.host.remote.connection import SshHost
from nfvbed.spec.existing import CloudPortSpec
from nfvbed.spec.remote import GeneratorHostSpec

ARCHIVE = "nfvgen.tar"
PROGRAM = "nfvgen"
_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")
_SHARED = ("bridge", "bond", "team")
"""Kinds of devices that take the MAC address of what they lie on."""


def with_devices(host: SshHost, spec: GeneratorHostSpec) -> GeneratorHostSpec:
    """Return the generator's host with names of devices in place of MAC addresses.

    Raises:
        PrerequisiteError: a device is not there, or several have its address.
        ConnectionLost, HostRefused, DeployError: the host cannot be asked.
    """
    if all(port.mac is None for port in spec.ports):
        return spec
    first, second = (_named(host, port, f"generator.ports[{place}]") for place, port in enumerate(spec.ports))
    return spec.model_copy(update={"ports": (first, second)})


def _named(host: SshHost, port: CloudPortSpec, where: str) -> CloudPortSpec:
    if port.mac is None:
        return port
    enter = ["nsenter", f"--net={port.netns_path}", "--"] if port.netns_path else []
    links = json.loads(host.run([*enter, "ip", "-d", "-j", "link", "show"]).text or "[]")
    found = devices_of(port.mac, links)
    if len(found) == 1:
        return port.model_copy(update={"mac": None, "device": found[0]})
    there = ", ".join(f"{link['ifname']} {link.get('address', '')}" for link in links if link.get("ifname") != "lo")
    raise PrerequisiteError(
        "a device of the generator is not on its host" if not found else "several devices have one MAC address",
        where=f"{host.spec.where}; {where}",
        observed=f"{port.mac}: {', '.join(found) or 'no device'}; there are {there or 'none'}",
        fix="correct the MAC address in the site's file"
        if not found
        else "give them MAC addresses of their own: ip link set DEVICE address",
    )


def devices_of(mac: str, links: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the devices with a MAC address in `ip -d -j link`; of those that lie on each other the lowest."""
    having = [link for link in links if link.get("address") == mac]
    names = {str(link["ifname"]) for link in having}
    return tuple(
        str(link["ifname"])
        for link in having
        if link.get("link") not in names and link.get("linkinfo", {}).get("info_kind") not in _SHARED
    )


def version_on(host: SshHost, spec: GeneratorHostSpec) -> str:
    """Return the version of the program on its host.

    Raises:
        PrerequisiteError, DeployError: it cannot be started there.
        ConnectionLost, HostRefused: the host cannot be reached.
    """
    return host.run([str(spec.nfvgen), "--version"]).text.strip()


def require_copy(host: SshHost) -> None:
    """Make sure that a copy of this machine's program can run on a host.

    Raises:
        PrerequisiteError: nfvgen is not built here, or the host's processor is of another kind.
        ConnectionLost, HostRefused, DeployError: the host cannot be asked.
    """
    native_binary(PROGRAM)
    kinds = _kind_of(["uname", "-m"]), host.run(["uname", "-m"]).text.strip()
    if kinds[0] != kinds[1]:
        raise PrerequisiteError(
            "nfvgen of this machine cannot run on the generator's host",
            where=f"{host.spec.where}; generator.nfvgen",
            observed=f"{kinds[1]}, and it is built for {kinds[0]}",
            fix="make build on that machine, and give the program's path there as nfvgen",
        )


def _kind_of(argv: Sequence[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True).stdout.strip()


def write_copy(folder: Path) -> Path:
    """Write the archive that a host gets: the program, its libraries and their loader.

    Raises:
        PrerequisiteError: nfvgen is not built, or one of its libraries is not there.
    """
    program = native_binary(PROGRAM)
    archive = folder / ARCHIVE
    with tarfile.TarFile(archive, "w") as made:
        for file in (program, *_libraries(program)):
            made.add(file.resolve(), arcname=file.name, recursive=False)
    return archive


def _libraries(program: Path) -> Iterator[Path]:
    """Yield the libraries that the loader finds for a program, and the loader itself."""
    said = subprocess.run(["ldd", str(program)], capture_output=True, text=True, timeout=30, check=False)
    missing = re.findall(r"(\S+) => not found", said.stdout)
    if said.returncode or missing:
        raise PrerequisiteError(
            "nfvgen cannot be started here, and so not copied",
            where=str(program),
            observed=f"no {', '.join(missing)}" if missing else said.stderr.strip() or said.stdout.strip(),
            fix="make build",
        )
    for line in said.stdout.splitlines():
        found = _LIBRARY.search(line)
        if found:
            yield Path(found[1])


def argv_of_copy(folder: PurePosixPath, argv: Sequence[str]) -> list[str]:
    """Return the command line that starts the copy in a folder of the host's, in place of the program's own."""
    loaders = [path.name for path in _libraries(native_binary(PROGRAM)) if path.name.startswith("ld-")]
    if len(loaders) != 1:
        raise DeployError("nfvgen has no loader of its own", where=PROGRAM, observed=", ".join(loaders) or "none")
    return [str(folder / loaders[0]), "--library-path", str(folder), str(folder / PROGRAM), *argv[1:]]
