"""`nfvbed kolla`: what kolla-ansible takes for a variant, a site of several machines, and a release."""

import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from nfvbed.cli.completion import RELEASE, SITE, VARIANT
from nfvbed.cli.console import Console
from nfvbed.cli.listing import Output, listing_options
from nfvbed.cli.settings import json_option, root_option
from nfvbed.cli.standard_streams import require_folder
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError, UsageError
from nfvbed.sites.catalogue import find_site
from nfvbed.sites.kolla import output
from nfvbed.sites.kolla.options import check_options
from nfvbed.sites.kolla.pinning import plane_of
from nfvbed.sites.kolla.render import check_release
from nfvbed.sites.stages import StagedCloud, UpgradePreview, UpgradeRequest
from nfvbed.spec.kollarelease import NEWEST, KollaReleaseSpec
from nfvbed.spec.loader import Project
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.textfile import read_text
from nfvbed.spec.variant import Variant

_PROOF = {
    "genconfig": "make test-kolla has kolla-ansible render the services' files of such files, and reads them",
    "playbook": "make test-kolla-all has the release's playbook make the services' files of them, and reads those",
}


@click.group(name="kolla")
def command() -> None:
    """Render what kolla-ansible takes for a variant on several machines; nothing is deployed."""


@command.command(name="render")
@click.argument("variant", type=VARIANT)
@click.option("--site", type=SITE, required=True, metavar="NAME", help="A name in deploy/sites, of kind kolla.")
@click.option(
    "--release", type=RELEASE, default=NEWEST, show_default=True, metavar="NAME", help="A name in kolla/releases."
)
@click.option("--output", "folder", required=True, metavar="DIR", help="Folder, empty or rendered to before.")
@click.option("--multinode", metavar="FILE", help="Kolla's own inventory/multinode: its groups are written, too.")
@root_option
def render_files(variant: str, site: str, release: str, folder: str, multinode: str | None, root: Path | None) -> None:
    """Write globals, inventory, variables of machines and overrides of services for VARIANT to a folder.

    Passwords are not among them: kolla-genpwd makes those.
    """
    require_folder(Path(folder))
    project = open_project(root)
    profile = project.load_kolla_release(release)
    cloud = _staged(project, site)
    made = cloud.render(variant, release, None if multinode is None else partial(_text, multinode))
    removed = output.write(Path(folder), dict(made.files))
    click.echo(f"{folder}: {len(made.files)} files for {made.variants} on site {site}, {profile.title}")
    for name in removed:
        click.echo(f"removed, of the rendering before: {name}")
    missing = _missing(project, made.roles)
    if missing:
        click.echo(f"it also needs roles that nfvbed does not have yet: {', '.join(missing)}")
    if multinode is None:
        click.echo("inventory/groups: not written; --multinode names Kolla's file that has them")
    click.echo(f"checked: {_PROOF[profile.asserted_by]}")


@command.command(name="upgrade-preview")
@click.argument("variant", type=VARIANT, required=False)
@click.option("--site", type=SITE, required=True, metavar="NAME", help="A name in deploy/sites, of kind kolla.")
@click.option("--to", "after", type=RELEASE, required=True, metavar="NAME", help="A name in kolla/releases.")
@click.option(
    "--from",
    "before",
    type=RELEASE,
    metavar="NAME",
    help=f"A name in kolla/releases. Default: what is deployed, else {NEWEST}.",
)
@click.option("--to-share", metavar="DIR", help="share/kolla-ansible of --to. Default: the one that is installed.")
@click.option("--from-share", metavar="DIR", help="share/kolla-ansible of --from. Default: the one that is installed.")
@json_option
@root_option
def upgrade_preview(
    variant: str | None,
    site: str,
    after: str,
    before: str | None,
    to_share: str | None,
    from_share: str | None,
    as_json: bool,
    root: Path | None,
) -> None:
    """Show what an upgrade of Kolla would change: rendered files, your variables, passwords; nothing is changed.

    VARIANT is by default the one that is deployed.
    """
    wanted = UpgradeRequest(variant, after, before, _folder(to_share), _folder(from_share))
    made = _staged(open_project(root), site).preview_upgrade(wanted)
    click.echo(made.model_dump_json(indent=2) if as_json else _previewed(made).rstrip())


LISTED_WIDTH = 80
"""Columns of a list of names."""


def _folder(given: str | None) -> Path | None:
    return None if given is None else Path(given)


def _previewed(made: UpgradePreview) -> str:
    lines = list(made.differences.values())
    lines.append(
        f"site {made.site}, {made.variants}: OpenStack {made.before} -> {made.after}: "
        f"{len(made.differences)} rendered files differ, {len(made.lost)} of {made.checked} variables are unknown there"
    )
    for one in made.lost:
        was = f"removed, it was in {one.was_in}" if one.was_in else f"{made.before} does not know it either"
        lines.append(f"  {one.name} ({one.file}): {was}")
    if made.new_passwords is None:
        lines.append("passwords: there are none yet")
    elif made.new_passwords:
        lines.append(f"passwords to add (kolla-mergepwd): {', '.join(made.new_passwords)}")
    else:
        lines.append("passwords: the file has all of them")
    return "\n".join(lines)


@command.command()
@click.argument("variant", type=VARIANT, required=False)
@listing_options("variant", "release", "rendered", "asserted_by", "needs_roles", "missing_roles", "reason", "fix")
@root_option
def releases(variant: str | None, output: Output, root: Path | None) -> None:
    """Say which variant can be rendered for which release; of VARIANT also why, and what it needs."""
    project = open_project(root)
    profiles = [project.load_kolla_release(name) for name in project.kolla_release_names]
    variants = [project.load_variant(variant)] if variant else project.list_variants()
    rows = {one.name: {profile.name: _support(project, one, profile) for profile in profiles} for one in variants}

    def as_text() -> None:
        if variant:
            for profile in profiles:
                click.echo(f"{profile.name}: {_in_full(rows[variant][profile.name])}")
            return
        table = Table("variant", *(one.name for one in profiles), box=None)
        able = {name: cells for name, cells in rows.items() if any(cell["rendered"] for cell in cells.values())}
        for name, cells in able.items():
            table.add_row(name, *(_in_short(cells[one.name]) for one in profiles))
        Console().print(table)
        unable = ", ".join(name for name in rows if name not in able)
        click.echo("\nunsupported with every release (nfvbed kolla releases VARIANT says why):")
        click.echo(textwrap.fill(unable, LISTED_WIDTH, break_on_hyphens=False))

    output.show(
        lambda: [
            {"variant": name, "release": release, **support}
            for name, cells in rows.items()
            for release, support in cells.items()
        ],
        lambda: rows,
        as_text,
    )


def _staged(project: Project, name: str) -> StagedCloud:
    """Return the cloud that kolla-ansible makes of a site's machines.

    Raises:
        UsageError: the site is not deployed by kolla-ansible.
    """
    site = project.load_site(name)
    cloud = find_site(site, project.root).staged_cloud() if site.in_stages else None
    if cloud is None:
        raise _no_rack(project, site)
    return cloud


def _no_rack(project: Project, site: SiteSpec) -> UsageError:
    known = [other for other in project.site_names if project.load_site(other).in_stages]
    return UsageError(
        f"site {site.name} is not deployed by kolla-ansible",
        where=f"deploy/sites/{site.name}.yml kind",
        observed=site.kind,
        fix=f"a site of kind kolla: {', '.join(known) or 'this project has none'}",
    )


def _missing(project: Project, roles: tuple[str, ...]) -> list[str]:
    return [role for role in roles if not (project.root / "deploy" / "roles" / role).is_dir()]


def _support(project: Project, variant: Variant, release: KollaReleaseSpec) -> dict[str, Any]:
    try:
        check_release(variant, release)
        check_options(variant)
    except NfvbedError as failure:
        return {"rendered": False, "reason": failure.observed, "fix": failure.fix}
    known = plane_of(variant).on(release)
    roles = known.roles if known else ()
    found = {"rendered": True, "asserted_by": release.asserted_by, "needs_roles": list(roles)}
    missing = _missing(project, roles)
    untested = [role for role in roles if role not in (*missing, *release.converged)]
    return found | {"missing_roles": missing, "roles_untested": untested}


def _in_short(support: dict[str, Any]) -> str:
    if not support["rendered"]:
        return "unsupported"
    if support["missing_roles"]:
        return "rendered, roles missing"
    return "rendered, a role untested" if support["roles_untested"] else "rendered"


def _in_full(support: dict[str, Any]) -> str:
    if not support["rendered"]:
        return f"unsupported: {support['reason']}\n  fix: {support['fix']}"
    states = dict.fromkeys(support["needs_roles"], "its test on an emulated machine passed")
    states |= dict.fromkeys(support["roles_untested"], "no test on a machine has passed")
    states |= dict.fromkeys(support["missing_roles"], "nfvbed does not have it yet")
    roles = "".join(f"\n  {role}: {state}" for role, state in states.items())
    return f"rendered, checked by {support['asserted_by']}{roles}"


def _text(path: str) -> str:
    return read_text(Path(path), "--multinode FILE")
