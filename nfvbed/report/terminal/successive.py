"""The screen's part on variants in the order in which they came: a line for each step at each traffic point."""

from typing import Final

from rich.text import Text

from nfvbed.compare.comparison import Comparison
from nfvbed.report import wording
from nfvbed.report.terminal.columns import Cell, Column, Row, lay_out
from nfvbed.report.terminal.verdict_colors import COLORS

_COLUMNS: Final = (Column("step"), Column("traffic"), Column("verdict"), Column("95 % and more", dropped=1))


def successive_lines(comparison: Comparison, width: int) -> list[Text]:
    """Return the lines; none where no order is known, or in a survey, which judges nothing."""
    if comparison.purpose == "survey" or not comparison.successive:
        return []
    rows = [
        Row(
            (
                Cell(f"{found.baseline_variant} → {found.variant}", "bold"),
                Cell(wording.point(found.topology, found.vnf, found.frame_size)),
                Cell(wording.verdict(found), COLORS[found.judgement.verdict]),
                Cell(wording.ratio_interval(found.judgement)),
            )
        )
        for found in comparison.successive
    ]
    return [Text("Step by step", "bold"), *lay_out(_COLUMNS, rows, width)]
