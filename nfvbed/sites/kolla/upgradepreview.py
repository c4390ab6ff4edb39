"""What an upgrade of Kolla would change of its inputs: rendered files, a user's own variables, and passwords."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import UnsupportedError, UsageError
from nfvbed.sites.kolla import inventory
from nfvbed.sites.kolla.collectionfolders import ENVIRONMENT
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.sites.kolla.executor.vault import Vault
from nfvbed.sites.kolla.kollavariables import KollaVariables, keys_in, keys_of
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.render import order_pinned, render
from nfvbed.sites.stages import LostVariable, UpgradePreview, UpgradeRequest
from nfvbed.spec import boundedyaml
from nfvbed.spec.kollarelease import NEWEST, KollaReleaseSpec
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec

RENDERED = "rendered"
"""In place of a user's file: nfvbed renders the variable."""
_NOT_KOLLAS = ("ansible_", "nfvbed_")
"""Begin variables that Kolla takes no notice of."""


@dataclass(frozen=True)
class KollaRelease:
    """A release, and the kolla-ansible that deploys it."""

    profile: KollaReleaseSpec
    variables: KollaVariables


def kolla_of(project: Project, release: str, share: Path | None, option: str) -> KollaRelease:
    """Return a release with its kolla-ansible.

    Args:
        share: folder `share/kolla-ansible`; None: the one that `setup/kolla` has installed.
        option: option of the command line that named the folder.

    Raises:
        UnsupportedError: the installed one is of another release.
        ConfigurationError: there is no such release, or the folder is none of a kolla-ansible.
        PrerequisiteError: none is installed.
    """
    profile = project.load_kolla_release(release)
    if share is None:
        try:
            share = Toolset.of(project.root, profile).share
        except UnsupportedError as failure:
            raise UnsupportedError(
                f"the kolla-ansible of {profile.title} is not installed",
                where=failure.where,
                observed=f"setup/kolla installs that of another release, into {ENVIRONMENT}",
                fix=f"{option} DIR: share/kolla-ansible of kolla-ansible {profile.kolla_ansible}, as in"
                f" pip install --target DIR --no-deps kolla-ansible=={profile.kolla_ansible}",
            ) from None
    return KollaRelease(profile, KollaVariables.of(share, option))


def preview(project: Project, site: KollaSiteSpec, wanted: UpgradeRequest) -> UpgradePreview:
    """Compare what two releases are given on a site; as `StagedCloud.preview_upgrade`."""
    found = journal.read(RackPlaces.of(project.root, site.name))
    variant = wanted.variant or (next(iter(found.pins.values()), found.variant) if found else None)
    if variant is None:
        raise UsageError(
            f"nothing is deployed on site {site.name}", fix="name the variant: upgrade-preview VARIANT ..."
        )
    earlier = wanted.before or (found.release if found else NEWEST)
    releases = (
        kolla_of(project, earlier, wanted.share_before, "--from-share"),
        kolla_of(project, wanted.after, wanted.share_after, "--to-share"),
    )
    pinning = pinning_of(project, site, variant)
    flavors = tuple(project.load_flavor(name) for name in project.flavor_names)
    before, after = (
        dict(render(order_pinned(pinning, site, one.profile), flavors).files)
        | {"inventory/groups": inventory.groups_file(one.variables.multinode)}
        for one in releases
    )
    places, known = RackPlaces.of(project.root, site.name), releases[1].variables
    lost, checked = lost_variables(places.own_globals(), variables_in(after), releases[0].variables, known)
    passwords = None
    if places.passwords.exists():
        vault = Vault.of(site, Toolset((project.root / ENVIRONMENT).resolve()))
        has = keys_of(vault.text_of(places.passwords), places.passwords)
        passwords = tuple(name for name in known.password_names if name not in has)
    names = (releases[0].profile.name, releases[1].profile.name)
    return UpgradePreview(
        site=site.name,
        variants=pinning.name,
        before=names[0],
        after=names[1],
        differences=differences(before, after, names),
        lost=lost,
        checked=checked,
        new_passwords=passwords,
    )


def differences(before: Mapping[str, str], after: Mapping[str, str], names: tuple[str, str]) -> dict[str, str]:
    """Return unified differences of files by path.

    Args:
        names: names of the two releases.
    """
    found = {}
    for path in sorted({*before, *after}):
        lines = difflib.unified_diff(
            before.get(path, "").splitlines(keepends=True),
            after.get(path, "").splitlines(keepends=True),
            f"{names[0]}/{path}" if path in before else "/dev/null",
            f"{names[1]}/{path}" if path in after else "/dev/null",
        )
        text = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
        if text:
            found[path] = text
    return found


def variables_in(files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of Kolla's variables that are rendered."""
    texts = [text for path, text in files.items() if path == "globals.yml" or path.startswith("inventory/host_vars/")]
    names = dict.fromkeys(str(name) for text in texts for name in boundedyaml.load(text))
    return tuple(name for name in names if not name.startswith(_NOT_KOLLAS))


def lost_variables(
    own: Iterable[Path], rendered: Iterable[str], before: KollaVariables, after: KollaVariables
) -> tuple[tuple[LostVariable, ...], int]:
    """Return the variables that the other kolla-ansible does not know, and how many were looked for.

    Args:
        own: a user's files of variables.
        rendered: names of the files that nfvbed renders.

    Raises:
        ConfigurationError: a file cannot be read.
    """
    wanted = {name: str(path) for name, path in keys_in(own).items()}
    wanted = dict.fromkeys(rendered, RENDERED) | wanted
    lost = tuple(
        LostVariable(name=name, file=file, was_in=before.place_of(name))
        for name, file in wanted.items()
        if not after.place_of(name)
    )
    return lost, len(wanted)
