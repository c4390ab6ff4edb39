"""`nfvbed rack`: the machines of a rack in a box, started, looked at and stopped."""

import os
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial

import click
from rich.table import Table

from nfvbed.cli.completion import SITE
from nfvbed.cli.console import Console
from nfvbed.cli.entering import open_site
from nfvbed.cli.listing import Output, Row, listing_options
from nfvbed.cli.onboarded import onboarded
from nfvbed.cloud.box import images
from nfvbed.cloud.box.box import Box, find_box
from nfvbed.cloud.box.layout import SWITCH
from nfvbed.cloud.box.machine import Machine
from nfvbed.cloud.box.pulled import PulledImages
from nfvbed.cloud.box.status import BoxStatus, MachineState, containers_of, look
from nfvbed.cloud.devcloud.lines import StageLines
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, DeployError, UnknownNameError
from nfvbed.sites.kolla.executor.destroying import forget_cloud
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.spec.loader import Project
from nfvbed.spec.site import SiteSpec

_LINES = 40
_SITE = click.option("--site", type=SITE, default="box", show_default=True, help="A name in deploy/sites: of a box.")


@click.group(name="rack")
def command() -> None:
    """Start the machines of a rack in a box, look at them, and stop them."""


@command.command()
@_SITE
@click.option("--no-images", is_flag=True, help="Only start the machines; without images nothing can be deployed yet.")
@click.option("--dry-run", is_flag=True, help="List the stages with what is done of them, and change nothing.")
def start(site: str, no_images: bool, dry_run: bool) -> None:
    """Start the machines, continue a failed start, or restart a machine that is off.

    `nfvbed deploy --site box` does this too. Nothing is deployed on the machines by it.
    """
    project = open_project()
    box = _box(project, site)
    if dry_run:
        for line in box.foresee():
            click.echo(line)
        return
    started = time.monotonic()
    if not no_images:
        _build_images(project, box)
    start_box(project, box)
    click.echo(f"the machines of site {site} are up after {time.monotonic() - started:.0f} s")
    click.echo(f"  shell: nfvbed rack shell --site {site} {box.layout.machines[0].name}")
    click.echo(f"  next: nfvbed deploy VARIANT --site {site}")


@command.command()
@_SITE
@click.option("--dry-run", is_flag=True, help="Say what would be stopped, and change nothing.")
def stop(site: str, dry_run: bool) -> None:
    """Stop the machines and remove what they have written, with a cloud that is on them; their root and logs stay."""
    project = open_project()
    box = _box(project, site)
    running = [name for name in box.names if box.find(name) is not None]
    if dry_run:
        click.echo(f"would stop {', '.join(running)}" if running else f"no machine of site {site} runs")
        return
    places = RackPlaces.of(project.root, site)
    # Nothing is deployed on machines that go meanwhile; where nothing ever was, there is nothing to lock.
    with places.taken() if places.directory.is_dir() else nullcontext():
        stopped = box.stop()
        forget_cloud(places)
    click.echo(f"the machines of site {site} are gone" if stopped else f"no machine of site {site} runs")


@command.command()
@_SITE
@listing_options("machine", "address", "pid", "starts", "systemd", "failed_units", "containers", "ended_containers")
def status(site: str, output: Output) -> int:
    """Say what runs: machines, their systemd and containers, the ports of the switch, the registry.

    Exit status 0 when all of it runs, and when no machine does; 20 when a part of it does not run.
    """
    found = look(_box(open_project(), site))
    output.show(lambda: map(_row, found.machines), lambda: asdict(found), lambda: _show(found))
    return 0 if found.is_well or found.is_down else DeployError.exit_code


@command.command()
@_SITE
@click.argument("machine")
@click.argument("subject", required=False)
@click.option("--lines", default=_LINES, show_default=True, help="How many of the last lines.")
def logs(site: str, machine: str, subject: str | None, lines: int) -> None:
    """Show the last lines of a container or a unit of MACHINE; without SUBJECT, of its whole journal.

    SUBJECT is the name of a container, or else of a unit of systemd's, as docker-registry.
    """
    found = _machine(site, machine)
    names = [] if machine == SWITCH else [one.name for one in containers_of(found)]
    if subject in names:
        done = found.run("docker", "logs", "--tail", str(lines), subject)
        click.echo(done.stdout + done.stderr, nl=False)
        return
    words = ["journalctl", "--no-pager", "--quiet", "--lines", str(lines)]
    if subject is not None:
        words += ["--unit", subject]
    text = found.check(*words)
    if subject is not None and not text.strip():
        raise UnknownNameError(
            f"machine {machine} has no container and no journal of {subject}",
            where=f"site {site}",
            observed=f"containers: {', '.join(names) or 'none'}",
            fix=f"nfvbed rack status --site {site}",
        )
    click.echo(text, nl=False)


@command.command()
@_SITE
@click.option("--lines", default=_LINES, show_default=True, help="How many of the last lines.")
def console(site: str, lines: int) -> None:
    """Show what onboarded VNFs have printed on their consoles, as Nova's ACTIVE does not mean booted."""
    project = open_project()
    _box(project, site)
    place = open_site(project.load_site(site), project.root)
    for name, said in place.consoles(onboarded(place).deployment, lines).items():
        click.echo(f"{name}:")
        for line in said or ["(nothing yet)"]:
            click.echo(f"  {line}")


@command.command(context_settings={"ignore_unknown_options": True})
@_SITE
@click.argument("machine")
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def shell(site: str, machine: str, words: tuple[str, ...]) -> None:
    """Open a shell on MACHINE, or run a command there."""
    terminal = f"TERM={os.environ.get('TERM', 'dumb')}"
    argv = _machine(site, machine).enter_argv(["/usr/bin/env", terminal, *(words or ("/bin/bash",))])
    sys.stdout.flush()
    os.execvp(argv[0], argv)


def start_box(project: Project, box: Box) -> None:
    """Start a box, or what is off of it; a cloud that was on machines which are gone is forgotten."""
    if all(box.find(name) is None for name in box.names):
        forget_cloud(RackPlaces.of(project.root, box.layout.site))
    box.start(StageLines())


def ensure_box(project: Project, spec: SiteSpec) -> None:
    """Start a site's box where not all of it is up, with the images of this nfvbed; nothing to do for other sites."""
    box = find_box(spec, project.root)
    if box is None:
        return
    _build_images(project, box)
    if not box.is_up():
        start_box(project, box)


def _build_images(project: Project, box: Box) -> None:
    """Build or copy the images that the registry of a box serves; those that are there stay."""
    box.require_host()
    tell = partial(click.echo, err=True)
    if box.layout.pulls:
        PulledImages(project.root, box.layout.images_from, tell).make()
    else:
        images.storage(project.root, tell)


def _box(project: Project, name: str) -> Box:
    """Return the box of a site.

    Raises:
        ConfigurationError: its machines are no box.
    """
    box = find_box(project.load_site(name), project.root)
    if box is not None:
        return box
    known = [other for other in project.site_names if find_box(project.load_site(other), project.root) is not None]
    raise ConfigurationError(
        f"the machines of site {name} are not a box",
        where=f"deploy/sites/{name}.yml machines",
        observed=f"sites whose machines are a box: {', '.join(known) or 'none'}",
        fix="name one of them" if known else "write machines: box in a site's file",
    )


def _machine(site: str, name: str) -> Machine:
    box = _box(open_project(), site)
    if name not in box.names:
        raise UnknownNameError(
            f"site {site} has no machine {name}",
            where=f"deploy/sites/{site}.yml hosts",
            fix=f"one of {', '.join(box.names)}",
        )
    return box.machine(name)


def _row(one: MachineState) -> Row:
    ended = [container.name for container in one.containers if not container.runs]
    return {
        "machine": one.name,
        "address": one.address,
        "pid": one.pid,
        "starts": one.starts,
        "systemd": one.systemd,
        "failed_units": one.failed_units,
        "containers": len(one.containers),
        "ended_containers": ended,
    }


def _show(found: BoxStatus) -> None:
    if found.is_down:
        click.echo(f"no machine of site {found.site} runs: nfvbed rack start --site {found.site}")
        return
    console, table = Console(), Table(box=None)
    for title in ("machine", "address", "pid", "starts", "systemd", "containers"):
        table.add_column(title, justify="right" if title in ("pid", "starts") else "left")
    for one in found.machines:
        pid = "" if one.pid is None else str(one.pid)
        table.add_row(one.name, one.address, pid, str(one.starts), _systemd(one), _containers(one))
    console.print(table)
    ports = Table(box=None)
    for title in ("port", "bridge", "VLANs", "fault"):
        ports.add_column(title)
    for port in found.ports:
        vlans = f"{port.trunks} (trunk)" if port.tag is None else f"{port.tag} (access)"
        ports.add_row(port.name, port.bridge, vlans, port.error)
    console.print(ports)
    console.print(f"registry {found.registry}: {len(found.images)} images")
    for line in found.problems:
        console.print(line)


def _systemd(one: MachineState) -> str:
    return f"{one.systemd}: {', '.join(one.failed_units)}" if one.failed_units else one.systemd


def _containers(one: MachineState) -> str:
    ended = [container.name for container in one.containers if not container.runs]
    text = f"{len(one.containers) - len(ended)} run" if one.containers else ""
    return f"{text}, not {', '.join(ended)}" if ended else text
