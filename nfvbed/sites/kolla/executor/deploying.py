"""Deploys a variant on a rack, from the preflight to the access to its cloud; idempotent, and resumable."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import BusyError, ConfigurationError, PrerequisiteError
from nfvbed.sites.kolla import boxglobals, boxtunnels, inventory, output
from nfvbed.sites.kolla.executor import access, inputs, inventories, kollatags, passwords, running, stages, takeover
from nfvbed.sites.kolla.executor import journal as journals
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.running import Rack
from nfvbed.sites.kolla.executor.stages import ROLES, Stage
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.sites.kolla.executor.vault import Vault
from nfvbed.sites.kolla.model import Order, Rendering, roles_of
from nfvbed.sites.kolla.pinning import Pinning
from nfvbed.sites.kolla.preflight.finding import Finding, blocking
from nfvbed.sites.kolla.render import order_pinned, render
from nfvbed.sites.stages import Observer
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec

Examine = Callable[[Project, KollaSiteSpec, Pinning, KollaReleaseSpec], list[Finding]]
PREPARES = "prepare"
"""Stage that makes right what findings with `prepared_by` are about."""


@dataclass(frozen=True)
class RackRequest:
    """A deployment that is asked for.

    Args:
        inventory: a user's own, in place of the rendered one; None: there is none.
        tags: tags of Kolla's services that are deployed; empty: all services.
    """

    pinning: Pinning
    site: KollaSiteSpec
    release: KollaReleaseSpec
    inventory: Path | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class PreparedDeployment:
    """The parts of a deployment, read and found to fit together.

    Args:
        files: files that Kolla is given, by path.
    """

    plan: tuple[Stage, ...]
    tools: Toolset
    files: dict[str, str]


def prepare(project: Project, wish: RackRequest, how: Sequence[Stage] | None = None) -> PreparedDeployment:
    """Read all that a deployment takes; nothing is changed, and no machine is asked.

    A dry run, a deployment, and whatever takes another variant down before, ask this first.

    Raises:
        ConfigurationError, UnsupportedError: files do not fit together; or the user's own inventory does not; or the
            passwords' vault does not open.
        UsageError: Kolla has no such tag.
        PrerequisiteError: kolla-ansible, a playbook or a role is missing.
    """
    plan = stages.deploying(project.root, wish.site, wish.tags) if how is None else tuple(how)
    order = order_pinned(wish.pinning, wish.site, wish.release)
    boxglobals.require_kernel(wish.site, wish.pinning.each)
    running.require_playbooks(plan)
    tools = Toolset.of(project.root, wish.release)
    kollatags.require(wish.tags, tools)
    passwords.require_readable(RackPlaces.of(project.root, wish.site.name), Vault.of(wish.site, tools))
    return PreparedDeployment(plan, tools, _files(project, order, tools, wish))


def deploy(
    project: Project, wish: RackRequest, observer: Observer, examine: Examine, how: Sequence[Stage] | None = None
) -> bool:
    """Deploy, or go on where an earlier command stopped.

    Args:
        how: stages in place of nfvbed's, for tests.

    Returns:
        Whether all of it was deployed already.

    Raises:
        BusyError: another variant is on the machines, or another nfvbed is at work.
        ConfigurationError: a fault of the preflight's; or the inventory does not fit.
        PrerequisiteError: kolla-ansible, a role or the passwords are missing.
        StageFailed, InterruptedRunError: it stopped.
    """
    places = RackPlaces.of(project.root, wish.site.name)
    prepared = prepare(project, wish, how)
    plan, tools, files = prepared.plan, prepared.tools, prepared.files
    with places.taken():
        found = journals.read(places)
        running.end_leftovers(found, observer)
        require_free(found, wish)
        output.adopt(places.config)
        own = inputs.digests(places.config, {*files, *output.written_before(places.config)})
        begun = _begun(found, wish, files, own, observer)
        if all(begun.is_done(stage.name) for stage in plan):
            return True
        boxtunnels.set_addresses(project.root, wish.site, wish.pinning)
        _preflight(project, wish, examine, begun, observer)
        output.write(places.config, files)
        vault = Vault.of(wish.site, tools)
        if passwords.ensure(places, vault, used=begun.passwords_used):
            observer.say(f"passwords: made by Kolla's generator, {places.passwords}")
        journals.write(places, begun)
        rack = Rack(project.root, wish.site, places, tools, observer)
        running.run_stages(rack, plan, begun, passwords.scrubber(places, vault))
        if places.kolla_clouds.exists():
            takeover.take_over(places, wish.site.name)
    return False


def require_free(found: Journal | None, wish: RackRequest) -> None:
    """Refuse another variant than the one that the machines have.

    Raises:
        BusyError: there is one; with the way to the other.
    """
    if found is None or not found.on_machines:
        return
    name = wish.site.name
    if found.destroying:
        raise BusyError(
            f"site {name} is half taken down",
            where=f"variant {found.variant}, stage {found.stopped_in() or 'none'}",
            observed="nfvbed destroy did not come to its end",
            fix=f"nfvbed destroy --site {name}; then deploy",
        )
    if is_another(found, wish):
        raise BusyError(
            f"site {name} has another variant",
            where=f"{found.variant}, OpenStack {found.release}",
            observed="machines go from one to another by being deployed again: switches, drivers, hugepages and all"
            " instances change",
            fix=f"nfvbed deploy {wish.pinning.each[0].name} --site {name} --redeploy, which destroys first and asks for"
            " the site's name",
        )


def is_another(found: Journal, wish: RackRequest) -> bool:
    """Return whether a journal differs from what is wanted: in variants, in their computes, or in the release."""
    return (found.variant, found.pins, found.release) != (wish.pinning.name, _pins(wish), wish.release.name)


def _pins(wish: RackRequest) -> dict[str, str]:
    return {name: one.name for name, one in wish.pinning.variants.items()} if wish.pinning.is_mixed else {}


def _begun(
    found: Journal | None, wish: RackRequest, files: Mapping[str, str], own: Mapping[str, str], observer: Observer
) -> Journal:
    digest = hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()
    fresh = Journal(
        variant=wish.pinning.name,
        pins=_pins(wish),
        release=wish.release.name,
        digest=digest,
        inputs=own,
        inventory=str(wish.inventory.resolve()) if wish.inventory else "",
    )
    if found is None or not found.on_machines:
        return fresh
    differing = () if found.inputs is None else inputs.changed(found.inputs, own)
    if found.digest == digest and not differing:
        return found.model_copy(update={"inputs": own})
    named = f" ({', '.join(differing)})" if differing else ""
    observer.say(f"what Kolla is given is not as it was{named}: all stages are run again")
    again = {"digest": digest, "inputs": own, "stages": {}, "inventory": fresh.inventory, "verified": None}
    return found.model_copy(update=again)


def _files(project: Project, order: Order, tools: Toolset, wish: RackRequest) -> dict[str, str]:
    flavors = tuple(project.load_flavor(name) for name in project.flavor_names)
    made: Rendering = render(order, flavors, boxglobals.this_host())
    _require_roles(project.root, made.roles)
    files = {
        **made.files,
        "inventory/groups": inventory.groups_file(tools.multinode.read_text()),
        access.FILE: access.access_file(order, tools.program("python")),
    }
    if wish.inventory is not None:
        files["inventory/hosts"] = inventories.checked(wish.inventory, wish.site, tools)
        files |= inventories.variables_beside(wish.inventory, wish.site)
    return files


def _require_roles(root: Path, roles: Sequence[str]) -> None:
    missing = [name for name in roles if not (root / ROLES / name).is_dir()]
    if missing:
        raise PrerequisiteError(
            "a role of nfvbed's is missing that the variant needs",
            where=str(root / ROLES),
            observed=f"there is no {', '.join(missing)}",
            fix="a variant that needs none of them: nfvbed kolla releases",
        )


def _preflight(project: Project, wish: RackRequest, examine: Examine, begun: Journal, observer: Observer) -> None:
    """Examine the machines; nothing is deployed while a fault is in the way.

    Raises:
        ConfigurationError: there is one; with all of them.
    """
    if begun.passwords_used:
        observer.say("preflight: not repeated, the machines have Kolla's services already (nfvbed verify)")
        return
    findings = examine(project, wish.site, wish.pinning, wish.release)
    require_no_fault(wish, findings, "nothing is deployed", is_prepared=begun.is_done(PREPARES))
    observer.say("preflight: no fault")


def require_no_fault(wish: RackRequest, findings: list[Finding], outcome: str, *, is_prepared: bool) -> None:
    """Refuse a deployment while a fault is in the way.

    Args:
        outcome: what does not happen for it.
        is_prepared: whether the roles that prepare machines have run: what they make right is a fault then.

    Raises:
        ConfigurationError: there is one; with all of them.
    """
    faults = blocking(findings, () if is_prepared else roles_of(wish.pinning, wish.release))
    if not faults:
        return
    rest = "".join(f"\n{one.machine or 'site'}: {one.what} ({one.key}; {one.observed}): {one.fix}" for one in faults)
    raise ConfigurationError(
        f"{outcome}: the preflight found {len(faults)} faults on site {wish.site.name}",
        where=faults[0].key,
        observed=rest.strip(),
        fix=f"correct them; nfvbed doctor --site {wish.site.name} lists them again",
    )
