"""`nfvbed devcloud`: a real OpenStack on this machine, started, looked at and taken down."""

import json
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict

import click

from nfvbed.cli.listing import Output, Row, listing_options
from nfvbed.cli.rack_options import EVICT
from nfvbed.cloud.devcloud.access import NAME
from nfvbed.cloud.devcloud.cloud import HUGEPAGES_MIB, DevCloud
from nfvbed.cloud.devcloud.lines import StageLines
from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.places import CONTROLLER, CloudPlaces
from nfvbed.cloud.devcloud.status import CloudStatus, look
from nfvbed.cloud.tacker import journal, others
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.errors import DeployError, UnknownNameError
from nfvbed.sites.openstack.descriptorvnfs import owners_of
from nfvbed.sites.openstack.owncloud import OwnCloud

_ENVIRONMENT = ("/usr/bin/env", f"OS_CLOUD={NAME}", "HOME=/root", "TERM=" + os.environ.get("TERM", "dumb"))
_TOOLS = ("PATH=/opt/tacker/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",)


@click.group(name="devcloud")
def command() -> None:
    """Start a real OpenStack on this machine, look at it, and take it down."""


@command.command()
@click.option(
    "--hugepages-mib",
    default=HUGEPAGES_MIB,
    show_default=True,
    help="Memory reserved for the switch (512) and for guests; of a cloud that runs it stays as it is.",
)
@click.option(
    "--port-chains",
    is_flag=True,
    help="Give Neutron networking-sfc, which Tacker's forwarding graphs (VNFFG) ask for; also of a cloud that runs, and"
    " until it is stopped.",
)
@click.option("--dry-run", is_flag=True, help="List the stages with what is done of them, and change nothing.")
def start(hugepages_mib: int, port_chains: bool, dry_run: bool) -> None:
    """Start the cloud, continue a failed start, or restart what has ended of a running one."""
    cloud = _cloud(hugepages_mib)
    if dry_run:
        for line in cloud.foresee(port_chains):
            click.echo(line)
        return
    started = time.monotonic()
    cloud.start(StageLines(skipped=True), port_chains)
    click.echo(f"the cloud runs after {time.monotonic() - started:.0f} s")
    click.echo(f"export OS_CLIENT_CONFIG_FILE={cloud.places.clouds}")
    click.echo(f"openstack --os-cloud {NAME} service list")


@command.command()
@click.option("--dry-run", is_flag=True, help="Say what would be taken down, and change nothing.")
@EVICT
def stop(dry_run: bool, evict: bool) -> None:
    """Take the cloud down with all that it has written; packages, the seed and logs stay.

    A cloud on which others have instances, ports, stacks or volumes stays, and they are listed; not so with --evict.
    """
    cloud = _cloud()
    if cloud.find_node() is not None and not evict:
        target = OwnCloud(cloud)
        notes = journal.of(target.folder)
        others.require_none(NAME, lambda: target.connection, notes, owners_of(target.folder))
    if dry_run:
        running = cloud.find_node() is not None
        click.echo("would take the cloud down" if running else "no cloud runs")
        return
    click.echo("the cloud is taken down" if cloud.stop() else "no cloud runs")


@command.command()
@listing_options("service", "runs", "status", "since")
def status(output: Output) -> int:
    """Say what runs, what it takes, and how long its start took.

    Exit status 0 when all of it runs, and when no cloud does; 20 when a part of it does not run.
    """
    found = look(_cloud())
    output.show(lambda: _rows(found), lambda: asdict(found), lambda: _show(found))
    return 0 if found.complete or not found.running else DeployError.exit_code


@command.command()
@click.argument("service", required=False)
@click.option("--lines", default=40, show_default=True, help="How many of the last lines.")
def logs(service: str | None, lines: int) -> None:
    """Show the last lines of a service's log; without a name, list the logs.

    Those of a compute node beside the controller have its name before theirs: NODE/nova-compute.
    """
    places = CloudPlaces.of(open_project().root)
    found = {path.stem: path for path in sorted(places.node(CONTROLLER).logs.glob("*.log"))}
    for host in _cloud().kinds:
        found |= {f"{host}/{path.stem}": path for path in sorted(places.node(host).logs.glob("*.log"))}
    if service is None:
        for name, path in found.items():
            click.echo(f"{path.stat().st_size:>9}  {name}")
        return
    if service not in found:
        raise UnknownNameError(
            f"there is no log of {service}",
            where=str(places.directory / "logs"),
            observed=f"logs: {', '.join(found) or 'none'}",
            fix="name one of them" if found else "nfvbed devcloud start",
        )
    for line in found[service].read_text(errors="replace").splitlines()[-lines:]:
        click.echo(line)


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def shell(words: tuple[str, ...]) -> None:
    """Open a shell in the controller, or run a command there, with the administrator's clouds.yaml."""
    node = _node()
    argv = node.enter_argv([*_ENVIRONMENT, *_TOOLS, *(words or ("/bin/bash",))])
    sys.stdout.flush()
    os.execvp(argv[0], argv)


@command.command()
@click.argument("instance")
@click.option("--attach", is_flag=True, help="Connect to the serial console; Ctrl-] ends that. Default: print it.")
@click.option("--lines", default=60, show_default=True, help="How many of the last lines.")
def console(instance: str, attach: bool, lines: int) -> None:
    """Show what an instance has printed on its console, as Nova's ACTIVE does not mean that it has booted."""
    node = _node()
    client = Command(
        ("/usr/bin/openstack", "server", "show", instance, "-f", "json"), environment=(("OS_CLOUD", NAME),)
    )
    name = json.loads(node.channel.check(client))["OS-EXT-SRV-ATTR:instance_name"]
    if attach:
        argv = node.enter_argv(["/usr/bin/virsh", "console", "--force", name])
        os.execvp(argv[0], argv)
    reader = Command(
        ("/usr/bin/openstack", "console", "log", "show", "--lines", str(lines), instance),
        environment=(("OS_CLOUD", NAME),),
    )
    click.echo(node.channel.check(reader), nl=False)


def _rows(found: CloudStatus) -> Iterable[Row]:
    """Yield the services that were started, and those that are missing; times are UTC."""
    for one in found.services:
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(one.since))
        yield {"service": one.name, "runs": one.status is None, "status": one.status, "since": since}
    for name in found.missing:
        yield {"service": name, "runs": False}


def _show(found: CloudStatus) -> None:
    if not found.running:
        click.echo("no cloud runs")
    for one in found.services:
        state = "runs" if one.status is None else f"ended with status {one.status}"
        click.echo(f"{one.name:28} {state:24} since {time.strftime('%H:%M:%S', time.localtime(one.since))}")
    for name in found.missing:
        click.echo(f"{name:28} does not run: nfvbed devcloud logs {name}")
    if found.running and not found.relay:
        click.echo("the relay does not run: the APIs do not answer on this machine; nfvbed devcloud start")
    if found.running:
        click.echo(f"memory: {found.memory_mib} MiB, and {found.hugepages_mib} MiB of hugepages reserved")
        click.echo("start: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in found.stages_s))
    if found.differences:
        click.echo(f"{len(found.differences)} packages are not of the tested set: {found.differences[0]}, ...")


def _cloud(hugepages_mib: int = HUGEPAGES_MIB) -> DevCloud:
    project = open_project()
    return open_cloud(project.root, [project.load_flavor(name) for name in project.flavor_names], hugepages_mib)


def _node() -> Node:
    node = _cloud().find_node()
    if node is None:
        raise DeployError("no cloud runs", fix="nfvbed devcloud start")
    return node
