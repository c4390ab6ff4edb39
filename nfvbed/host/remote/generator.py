"""nfvgen or TRex on another host: the same client as here, its control channel over SSH.

A connection that is lost in the middle of a trial costs only the time until the next one. nfvgen goes on, and keeps its
counts until they are asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from nfvbed.host.remote import nfvgenthere
from nfvbed.host.remote.connection import SshHost
from nfvbed.host.remote.failures import ConnectionLost
from nfvbed.host.remote.remoteprogram import RemoteProgram
from nfvbed.patience import patient
from nfvbed.records import GeneratorPort
from nfvbed.spec.existing import CloudPortSpec
from nfvbed.spec.remote import GeneratorHostSpec
from nfvbed.traffic.generator import Generator
from nfvbed.traffic.nfvgen import NfvgenClient, NfvgenOptions
from nfvbed.traffic.nfvgen_channel import ChannelClosed, NfvgenChannel
from nfvbed.traffic.nfvgen_control import ControlPath
from nfvbed.traffic.trexoptions import ARCHIVE, TrexOptions, write_archive

TREX_START_S = 120.0
"""Opening NICs takes TRex half a minute, and longer where memory has to be cleared."""


def open_generator(
    host: SshHost, spec: GeneratorHostSpec, destination_macs: tuple[str, str] | None = None, mac_count: int = 1
) -> Generator:
    """Start the generator on its host and wait until it is ready.

    Args:
        host: a connection of this generator's own; after a loss it is made again.
        destination_macs: destinations of frames from the first and the second port; None: the address of the port that
            they are for.
        mac_count: the number of addresses that flows use in turn.

    Raises:
        GeneratorError: it did not come up; none of it is left running.
        PrerequisiteError: the host does not have it, or cannot be reached.
        DeployError: it cannot be started.
    """
    spec = nfvgenthere.with_devices(host, spec)
    process = RemoteProgram(host)
    socket_path = process.directory / "nfvgen.sock"
    first, second = spec.ports
    options = _options_of(spec)(
        engine=spec.engine,
        ports=(port_of(first, spec), port_of(second, spec)),
        core=spec.core,
        socket_path=Path(socket_path),
        memory_mib=spec.hugepages_mib,
        file_prefix=process.directory.name,
        drain_ns=round(patient(NfvgenOptions.drain_ns)),
        start_timeout_s=patient(NfvgenOptions.start_timeout_s if spec.trex is None else TREX_START_S),
        destination_macs=destination_macs,
        destination_mac_count=mac_count,
    )
    enter = ["nsenter", f"--net={first.netns_path}", "--"] if first.netns_path else []

    def spawn(argv: Sequence[str]) -> RemoteProgram:
        with TemporaryDirectory(prefix="nfvbed-") as folder:
            if spec.is_copied:
                copied = nfvgenthere.argv_of_copy(process.directory, argv)
                process.start([*enter, *copied], socket_path, archive=nfvgenthere.write_copy(Path(folder)))
            else:
                process.start([*enter, *argv], socket_path, _files(spec, Path(folder)))
        return process

    # The host keeps it for the lease: after that there is nothing to come back to.
    way = ControlPath(lambda: _channel(process), again_s=spec.lease_s, reset=host.disconnect)
    return NfvgenClient(options, spawn, way=way)


def _options_of(spec: GeneratorHostSpec) -> Callable[..., NfvgenOptions]:
    """Return the options of the program, without those that both programs have."""
    if spec.trex is not None:
        return partial(TrexOptions, binary=Path("python3"), trex=spec.trex)
    return partial(NfvgenOptions, binary=Path(spec.nfvgen or nfvgenthere.PROGRAM))


def _files(spec: GeneratorHostSpec, folder: Path) -> Mapping[str, Path]:
    """Return the files that the host needs besides: for TRex, the program that drives it."""
    return {} if spec.trex is None else {ARCHIVE: write_archive(folder)}


def _channel(process: RemoteProgram) -> NfvgenChannel:
    """Connect to nfvgen.

    Raises:
        ChannelClosed: a later try may succeed.
        HostRefused: a later try would not succeed.
    """
    try:
        attached = process.attach()
    except ConnectionLost as error:
        raise ChannelClosed(error.what, where=error.where, observed=error.observed, fix=error.fix) from error
    return NfvgenChannel(attached.socket, process.where, attached.close)


def port_of(port: CloudPortSpec, spec: GeneratorHostSpec) -> GeneratorPort:
    """Return a port as nfvgen opens it on that host."""
    opened = f"pci:{port.pci}" if port.device is None else port.device
    return GeneratorPort(engine=spec.engine, spec=opened, kind=port.kind, netns=port.netns_path)
