"""Commands in the containers of a rack's computes: Nova's, and libvirt's, which runs the guests."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nfvbed.cloud.verify.commands import Answer, Hypervisor
from nfvbed.errors import ConfigurationError
from nfvbed.host.remote.connection import SshHost
from nfvbed.sites.kolla.verify.containers import KollaCommands
from nfvbed.spec.site import KollaSiteSpec

NOVA, LIBVIRT = "nova_compute", "nova_libvirt"
"""Kolla's containers (its role nova-cell)."""


@contextmanager
def commands_in(site: KollaSiteSpec, compute: str, container: str) -> Iterator[KollaCommands]:
    """Yield commands in a container of a compute.

    Raises:
        ConfigurationError: the site's file does not say how a compute is reached.
        ConnectionLost, HostRefused, PrerequisiteError: the compute cannot be asked.
    """
    way = site.reached(compute)
    if way is None:
        raise ConfigurationError(
            f"the site's file does not say how {compute} is reached",
            where=f"deploy/sites/{site.name}.yml ssh",
            observed="no key ssh",
            fix="ssh: {user: root, key: FILE, known_hosts: FILE}, as in deploy/sites/rack.yml",
        )
    with tempfile.TemporaryDirectory(prefix="nfvbed-") as folder, SshHost(way, Path(folder)) as host:
        yield KollaCommands(compute, host, container)


class RackHypervisor(Hypervisor):
    """The libvirt in its container on a compute, reached over SSH anew for each command."""

    def __init__(self, site: KollaSiteSpec, host: str) -> None:
        super().__init__(host)
        self._site = site

    def virsh(self, words: Sequence[str], timeout_s: float) -> Answer:
        """Run it in the container."""
        with commands_in(self._site, self.host, LIBVIRT) as commands:
            return commands.by_switch(("virsh", "--quiet", *words), timeout_s)
