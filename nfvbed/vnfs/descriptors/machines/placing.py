"""Placement groups on the computes of a site: which machine goes where, and whether it did."""

from collections.abc import Mapping, Sequence

from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.spec.machines import PlacementSpec


def spread(groups: Sequence[PlacementSpec], computes: Sequence[str], vnf: str) -> dict[str, str]:
    """Return the compute of each machine that is in a group, by the machines' names; others may be anywhere.

    It is the same for the same groups and computes: the first machine of a group is on the first compute that the
    groups leave it.

    Args:
        computes: computes, in the site's order.

    Raises:
        UnsupportedError: there are fewer than the groups need.
    """
    taken: dict[str, tuple[str, ...]] = {}
    found: dict[str, str] = {}
    for group in groups:
        others = {*group.apart_from, *(one.name for one in groups if group.name in one.apart_from)}
        held = {compute for name in others for compute in taken.get(name, ())}
        free = [compute for compute in computes if compute not in held]
        needed = len(group.machines) if group.policy == "anti-affinity" else 1
        if len(free) < needed:
            apart = f", apart from {', '.join(sorted(others))}" if others else ""
            raise UnsupportedError(
                f"group {group.name} of VNF {vnf} cannot be placed: it takes {needed} computes{apart}",
                where=f"placement of vnfd/{vnf}/vnf.yml",
                observed=f"computes with this variant: {', '.join(computes) or 'none'}",
                fix="a site with more computes of one variant, as a rack (--site box)",
            )
        taken[group.name] = tuple(free[:needed])
        found |= {
            machine: free[place if group.policy == "anti-affinity" else 0]
            for place, machine in enumerate(group.machines)
        }
    return found


def require_placed(
    groups: Sequence[PlacementSpec], wanted: Mapping[str, str], hosts: Mapping[str, str], vnf: str
) -> None:
    """Check that instances are where their groups want them.

    Args:
        wanted: computes that were asked for, by machine; a machine that is not in it may be anywhere.
        hosts: Nova's names of their computes, by machine; an empty name is not compared.

    Raises:
        OnboardError: one is not.
    """
    shown = ", ".join(f"{machine} on {host or 'a compute that is not shown'}" for machine, host in hosts.items())
    for machine, host in hosts.items():
        if host and wanted.get(machine, host) != host:
            raise OnboardError(
                f"machine {machine} of VNF {vnf} is on another compute than the one that was asked for",
                observed=f"asked for: {wanted[machine]}; {shown}",
                fix="Nova's scheduler has to have what knows availability zones (openstack availability zone list)",
            )
    on = {group.name: [hosts[name] for name in group.machines if hosts.get(name)] for group in groups}
    for group in groups:
        here, apart = on[group.name], {host for name in group.apart_from for host in on[name]}
        fits = len(set(here)) == len(here) if group.policy == "anti-affinity" else len(set(here)) <= 1
        if not fits or apart & set(here):
            raise OnboardError(
                f"group {group.name} of VNF {vnf} is not placed as it says ({group.policy})",
                observed=shown,
                fix="see the server group (openstack server group list), and the scheduler's filters",
            )
