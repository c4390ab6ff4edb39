"""The colours of figures and of names beside them; apart from the figures, whose library is slow to import."""

import zlib
from collections.abc import Iterable
from typing import Final

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.spec.options import name_of

PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A6D3B", "#7A7A7A")
"""Okabe and Ito (2008), without black and yellow, which vanish on one of the two backgrounds."""

OWN: Final = {name_of(model): model.colour for model in CATALOGUE.options if model.colour is not None}
"""Variants that have the colour of this place, wherever they are shown."""


def colors_of(labels: Iterable[str]) -> dict[str, str]:
    """Return a colour for each label (`variant`, or `variant (run)`), in their order.

    A variant keeps its colour from view to view, whatever else is shown, unless another one beside it has it: then it
    takes the next that is free. With more labels than colours, colours come again.
    """
    names = list(dict.fromkeys(labels))
    variants = {name: name.partition(" ")[0] for name in names}
    taken: dict[str, int] = {}
    for name in sorted(names, key=lambda name: (variants[name] not in OWN, names.index(name))):
        variant = variants[name]
        first = OWN.get(variant, zlib.crc32(variant.encode()) % len(PALETTE))
        places = [(first + step) % len(PALETTE) for step in range(len(PALETTE))]
        uses = list(taken.values())
        taken[name] = min(places, key=lambda place: (uses.count(place), places.index(place)))
    return {name: PALETTE[taken[name]] for name in names}
