"""What earlier commands left on this machine: a deployment that stays, and leftovers of killed ones."""

from nfvbed.errors import DeployError
from nfvbed.host.workspace.reap import ReapedLeftovers, abandoned, is_deployed, remove_unreadable, workspaces
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.sites.lab.storeddeployment import find_remembered
from nfvbed.sites.site import NOTHING_DEPLOYED


def take_down(reaped: list[ReapedLeftovers], *, everything: bool) -> tuple[str, ...]:
    """Take down what is deployed; return lines that say what was.

    Args:
        reaped: leftovers of killed commands, removed when the host was taken; the host must be held.
        everything: take down run directories whose ledger cannot be read, too.

    Raises:
        DeployError: not everything could be removed.
    """
    remembered = find_remembered()
    problems = [problem for item in reaped for problem in item.problems]
    for workspace in [w for w in workspaces() if is_deployed(w)]:
        problems += workspace.close()
    problems += remove_unreadable() if everything else []
    if problems:
        raise DeployError("not everything could be removed", observed="; ".join(problems), fix="nfvbed destroy --all")
    if remembered is not None:
        return (f"{remembered.deployment.variant} ({remembered.deployment.topology}) is taken down",)
    return () if reaped else (NOTHING_DEPLOYED,)


def foresee_take_down() -> tuple[str, ...]:
    """Return lines that say what would be taken down; nothing is changed."""
    found = [w for w in workspaces() if is_deployed(w)] + abandoned()
    return tuple(_description(workspace) for workspace in found) or (NOTHING_DEPLOYED,)


def _description(workspace: Workspace) -> str:
    owner = workspace.ledger.owner
    kinds = [entry.kind for entry in workspace.ledger.entries]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    return f"would take down {workspace.directory} ({counts}), made {owner.since} by pid {owner.pid}: {owner.command}"
