"""What former nfvbed wrote in other words than this one, and is still read."""

from nfvbed.records import CellLack, CellRecord

VNF_LACKED = "the VNF cannot run here:"
"""How the reason of a cell began that lacked its VNF; before format 5 nothing else said so."""


def named(cell: CellRecord) -> CellRecord:
    """Return a cell of any format with what it lacks in its own field."""
    if cell.lacks is None and cell.reason.startswith(VNF_LACKED):
        return cell.model_copy(update={"lacks": CellLack.VNF})
    return cell
