"""The colours of figures and of names beside them; apart from the figures, whose library is slow to import."""

from typing import Final

PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A6D3B", "#7A7A7A")
"""Okabe and Ito (2008), without black and yellow, which vanish on one of the two backgrounds."""
