"""The reference's table of every variant with every release, in Markdown."""

from collections.abc import Sequence

from nfvbed.sites.kolla import boxevidence
from nfvbed.sites.kolla.combinations import Combination, combinations
from nfvbed.sites.kolla.pinning import plane_of
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.loader import Project


def support_table(project: Project) -> str:
    """Return the table: a row for each variant, a column for each release, and what runs in a box have noted."""
    releases = [project.load_kolla_release(name) for name in project.kolla_release_names]
    found = combinations(project)
    noted = boxevidence.read(project.root)
    rows = []
    for v in project.list_variants():
        cells = [_cell(project, release, [one for one in found if one.of(v, release)]) for release in releases]
        in_box = "; ".join(f"{one.release}: {one.shown}" for one in noted if one.variant == v.name) or "no"
        rows.append(f"| `{v.name}` | {' | '.join(cells)} | {in_box} |")
    heads = [f"{release.name} (kolla-ansible {release.kolla_ansible})" for release in releases]
    return (
        f"| variant | {' | '.join(heads)} | deployed in the box |\n|{'---|' * (len(heads) + 2)}\n"
        + "\n".join(rows)
        + "\n"
    )


def _cell(project: Project, release: KollaReleaseSpec, found: Sequence[Combination]) -> str:
    where = [f"`{one.site}`" for one in found if one.rendered]
    refused = {one.reason: [other.site for other in found if other.reason == one.reason] for one in found if one.reason}
    if not where:
        reason = min(refused, key=len).removeprefix(f"variant {found[0].variant} ")
        return f"unsupported: {_text(reason.removeprefix(f'cannot be deployed with {release.title}: '))}"
    support = plane_of(project.load_variant(found[0].variant)).on(release)
    roles = support.roles if support else ()
    cell = f"rendered and asserted (`{release.asserted_by}`) on {', '.join(where)}"
    there = {role: (project.root / "deploy/roles" / role).is_dir() for role in roles}
    beside, lacking = ([f"`{role}`" for role, is_there in there.items() if is_there is kept] for kept in (True, False))
    cell += f"; with {', '.join(beside)}" if beside else ""
    cell += f"; missing: {', '.join(lacking)}" if lacking else ""
    cell += f"; {_converged(roles, release)}"
    for reason, sites in refused.items():
        cell += f"; unsupported on {', '.join(f'`{name}`' for name in sites)}: {_text(reason)}"
    return cell


def _converged(roles: Sequence[str], release: KollaReleaseSpec) -> str:
    """Return which of a variant's own roles have converged on an emulated machine."""
    if not roles:
        return "no role of nfvbed's is needed"
    done = [f"`{role}`" for role in roles if role in release.converged]
    left = [f"`{role}`" for role in roles if role not in release.converged]
    if not left:
        return f"**role-converged** on a guest: {', '.join(done)}"
    if not done:
        return "not role-converged: no role of these has passed its test on a guest"
    return f"partly role-converged on a guest: {', '.join(done)}; not {', '.join(left)}"


def _text(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
