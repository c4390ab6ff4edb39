"""Another host as nfvbed reaches it over SSH, and the generator on it."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.existing import TwoPorts
from nfvbed.spec.model import SpecModel

AbsolutePath = Annotated[str, Field(pattern=r"^/[^\x00\n]*$", max_length=200)]


class SshAccessSpec(SpecModel):
    """The SSH access to hosts, whatever their addresses. There is no key for a password, on purpose."""

    user: str = Field("root", pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", max_length=64)
    """Account on it; its login shell is one of the POSIX kind."""
    port: int = Field(22, ge=1, le=65535)
    """Port of its sshd."""
    key: Path
    """File of the private key, without a passphrase or held by an agent."""
    known_hosts: Path
    """File of host keys, in OpenSSH's form; the host's key must be in it."""
    ssh_config: Path | None = None
    """File in OpenSSH's form for what else the way there needs, as a jump host; none: no file is read, the account's
    own neither. What nfvbed sets itself, host keys and credentials, it cannot change."""
    connect_timeout_s: int = Field(10, ge=1, le=600)
    """Time for connecting and signing in, seconds."""
    keepalive_s: int = Field(5, ge=1, le=600)
    """Time between signs of life, seconds; after three without an answer the connection is lost."""


class RemoteHostSpec(SshAccessSpec):
    """A host, its account, and how its identity is checked."""

    address: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:%-]*$", max_length=255)
    """Name or address of the host."""
    directory: AbsolutePath = "/tmp"
    """Folder of the host below which folders are made, each removed with what it is for."""
    lease_s: int = Field(60, ge=2, le=3600)
    """Time without a sign of life after which the host ends by itself what was started on it, seconds."""

    @property
    def where(self) -> str:
        """How it is named in messages."""
        return f"{self.user}@{self.address}, port {self.port}"


class TrexSpec(SpecModel):
    """TRex as its operator installed it on a host."""

    folder: AbsolutePath
    """Folder of TRex there, with `t-rex-64` in it."""
    configuration: AbsolutePath = "/etc/trex_cfg.yaml"
    """TRex's file there, with its ports and cores; nfvbed does not write it."""
    workers: int = Field(1, ge=1, le=64)
    """Threads of TRex for each pair of ports."""
    software: bool = False
    """TRex counts the frames of its streams by itself (its option `--software`), and not its NIC: for NICs whose
    counters of streams stay 0, as was reported of E810 and ConnectX. It receives less that way."""


class GeneratorHostSpec(RemoteHostSpec):
    """A host with nfvgen or TRex on it, and two ports that are cabled to what is measured."""

    nfvgen: AbsolutePath | None = None
    """Path of the program on the host; none: this machine's own is copied there while it runs, with its libraries, for
    devices of the kernel's. NICs of DPDK need a program that was built there, with DPDK's drivers."""
    trex: TrexSpec | None = None
    """TRex in nfvgen's place: it counts frames, and neither looks at their contents nor measures latency."""
    ports: TwoPorts
    """Devices of that host, or NICs that DPDK's driver has there already, cabled to both ends of the path."""
    core: int = Field(ge=0)
    """Core of the generator's thread on that host."""
    hugepages_mib: int = Field(256, ge=128)
    """Hugepage memory that is taken there for NICs of DPDK; the host has it ready."""

    @model_validator(mode="after")
    def there_is_one_generator(self) -> Self:
        if self.nfvgen is not None and self.trex is not None:
            raise ValueError("a generator's host has nfvgen or trex: one of them")
        if self.nfvgen is None and self.trex is None and self.engine == "dpdk":
            raise ValueError("nfvgen is the program's path on the host: one that is copied there has no NICs of DPDK")
        if self.trex is not None and any(port.pci is None for port in self.ports):
            raise ValueError("trex has NICs: give each of its ports as pci")
        return self

    @property
    def is_copied(self) -> bool:
        """Whether this machine's program is copied there."""
        return self.nfvgen is None and self.trex is None

    @property
    def engine(self) -> Literal["dpdk", "xdp"]:
        """Which kind of ports it opens: NICs of DPDK or devices of the kernel."""
        return "xdp" if self.ports[0].kind.is_kernel else "dpdk"
