"""What a site's file says against planned cells, whatever the variant; nothing is opened."""

from nfvbed.plan.cells import CellPlan
from nfvbed.records import CellRole, VnfKind
from nfvbed.spec.site import SiteSpec


def lacks(site: SiteSpec, cell: CellPlan) -> str:
    """Return why a site cannot have a planned cell; empty where nothing is known against it."""
    if cell.role is not CellRole.SUBJECT and not site.has_ceilings:
        return f"ceilings are not measured on site {site.name}"
    kind = (cell.vnf_resolved or cell.vnf).partition("-")[0]  # labels begin with it
    only = site.only_vnf_kind
    if only is not None and kind != only and kind in tuple(VnfKind):
        return f"on site {site.name} VNFs are of kind {only.value}"
    if site.only_variant is not None and cell.variant != site.only_variant:
        return f"site {site.name} takes variant {site.only_variant} alone"
    return site.lacks(cell.topology)
