"""The stages of a deployment, in order: each is one program of Ansible's."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from nfvbed.sites.kolla import collectionfolders
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.spec.site import KollaSiteSpec

PLAYBOOKS = Path("deploy") / "playbooks"
ROLES = Path("deploy") / "roles"
_REBOOTS = ("-e", "nfvbed_reboot=true")
"""A machine whose kernel needs another command line is rebooted, and waited for."""


@dataclass(frozen=True)
class Stage:
    """One stage."""

    name: str
    summary: str
    argv: Callable[[RackPlaces], tuple[str, ...]]
    """Program of the environment and its arguments, for a rack's places."""
    gives_passwords: bool = False
    """Whether machines get the passwords in it."""
    playbook: Path | None = None
    """Playbook of nfvbed's that it runs; None: one of Kolla's."""
    undoes: str = ""
    """Stage of the deployment that it takes back; it is not run where that one was never begun."""
    tags: tuple[str, ...] = ()
    """Kolla's, to which it is limited: the rest of the stage is to come, so that it is not done afterwards."""
    uses_engine: bool = False
    """Whether machines have an engine of containers by then, which may be why it fails."""


def kolla(name: str, summary: str, *more: str, gives_passwords: bool = False, undoes: str = "") -> Stage:
    """Return a stage that is a command of kolla-ansible's."""

    def argv(places: RackPlaces) -> tuple[str, ...]:
        options = ("--configdir", str(places.config), "-i", str(places.inventory))
        overrides = ("-e", f"node_custom_config={places.config / 'config'}")
        return ("kolla-ansible", name, *options, *overrides, *more)

    return Stage(name, summary, argv, gives_passwords, undoes=undoes)


def own(name: str, summary: str, playbook: Path, *more: str, undoes: str = "") -> Stage:
    """Return a stage that is a playbook of nfvbed's; it gets Kolla's variables as Kolla's own do, and no password."""

    def argv(places: RackPlaces) -> tuple[str, ...]:
        variables = [
            word for file in (places.config / "globals.yml", *places.own_globals()) for word in ("-e", f"@{file}")
        ]
        return ("ansible-playbook", "-i", str(places.inventory), *variables, *more, str(playbook))

    return Stage(name, summary, argv, playbook=playbook, undoes=undoes)


def with_passwords(stage: Stage) -> Stage:
    """Return a stage of nfvbed's that gets Kolla's passwords too, from their file."""

    def argv(places: RackPlaces) -> tuple[str, ...]:
        program, *rest = stage.argv(places)
        return (program, "-e", f"@{places.passwords}", *rest)

    return replace(stage, argv=argv, gives_passwords=True)


def bootstrapping(root: Path, site: KollaSiteSpec) -> Stage:
    """Return the stage that installs the engine of containers: Kolla's, or nfvbed's in its place.

    nfvbed's is for a box alone, where Kolla's role is not to be had; elsewhere the preflight wants Kolla's.
    """
    name, summary = "bootstrap-servers", "packages and the engine of containers"
    if site.machines == "box" and collectionfolders.is_needed(root) and not collectionfolders.found(root):
        summary += f", by nfvbed's role nfvbed_bootstrap: {collectionfolders.NAME} is not here"
        return own(name, summary, root / PLAYBOOKS / "bootstrap.yml")
    return kolla(name, summary)


def limited(stage: Stage, tags: tuple[str, ...]) -> Stage:
    """Return a stage of Kolla's that does what has one of Kolla's tags; without tags all of it."""
    if not tags:
        return stage

    def argv(places: RackPlaces) -> tuple[str, ...]:
        return (*stage.argv(places), "--tags", ",".join(tags))

    return replace(stage, argv=argv, summary=f"{stage.summary}, of {', '.join(tags)} alone", tags=tags)


def deploying(root: Path, site: KollaSiteSpec, tags: tuple[str, ...] = ()) -> tuple[Stage, ...]:
    """Return the stages that deploy.

    Args:
        tags: tags of Kolla's services that are deployed, with nothing after them; empty: all of the cloud.
    """
    folder = root / PLAYBOOKS
    services = (
        own("prepare", "hugepages, cores, drivers; reboots where needed", folder / "prepare.yml", *_REBOOTS),
        bootstrapping(root, site),
        limited(kolla("prechecks", "Kolla's own checks of the machines"), tags),
        limited(replace(kolla("pull", "images of the services"), uses_engine=True), tags),
        limited(kolla("deploy", "configuration and containers", gives_passwords=True), tags),
    )
    if tags:
        return services
    return (
        *services,
        kolla("post-deploy", "access to the cloud", gives_passwords=True),
        with_passwords(own("tune", "what Kolla has no variables for", folder / "tune.yml")),
    )


def destroying(root: Path) -> tuple[Stage, ...]:
    """Return the stages that take everything down again."""
    folder, sure = root / PLAYBOOKS, ("--yes-i-really-really-mean-it", "--limit", "control:network:compute")
    return (
        with_passwords(own("undo-tune", "what was set after Kolla", folder / "undo-tune.yml", undoes="tune")),
        kolla("destroy", "containers, volumes, configuration", *sure, undoes="bootstrap-servers"),
        own("left-volumes", "volumes that an interrupted destroy left", folder / "left-volumes.yml", undoes="deploy"),
        own("undo", "hugepages, cores, drivers as they were", folder / "undo.yml", *_REBOOTS, undoes="prepare"),
    )
