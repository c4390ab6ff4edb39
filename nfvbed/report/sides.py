"""The sides of a diff, as people name them: a run, a variant in it, or a set of options that some run measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from nfvbed.compare.diff import Side
from nfvbed.errors import UnknownNameError
from nfvbed.records import CellRole, RunRecord
from nfvbed.records.annotations import LATEST
from nfvbed.report.load import described

if TYPE_CHECKING:
    from nfvbed.records.selection import Selection
    from nfvbed.store import Store

SEARCHED: Final = 50
"""Newest runs that are looked through for a variant or a set of options."""
OF_RUN: Final = ":"
"""Between a run and a variant of it: no label, id or variant has it in its name."""
FIX: Final = "give RUN, RUN:VARIANT, VARIANT, or options as measured: KEY=VALUE[,KEY=VALUE]; `nfvbed runs` lists runs"


@dataclass(frozen=True)
class _NamedSide:
    """One side as it was named."""

    text: str
    run: RunRecord | None
    what: str
    """A variant, or options; empty: the run alone."""


def find_sides(store: "Store", texts: tuple[str, str], selection: "Selection") -> tuple[Side, Side]:
    """Return both sides; variants without a run are of the newest run that has both, else of the newest that has each.

    Raises:
        UnknownNameError: nothing in the store is named so, or options fit several variants of a run.
    """
    before, after = (_named(store, text, selection) for text in texts)
    if before.run is None and after.run is None:
        for run in store.runs(selection)[:SEARCHED]:
            found = [_variants(store, run, side.what) for side in (before, after)]
            if all(found):
                return _side(before, run, found[0]), _side(after, run, found[1])
    return _found(store, before, selection), _found(store, after, selection)


def _named(store: "Store", text: str, selection: "Selection") -> _NamedSide:
    name, separator, what = text.partition(OF_RUN)
    if separator:
        return _NamedSide(text, store.run(name or LATEST, selection), what)
    if "=" in text:
        return _NamedSide(text, None, text)
    try:
        return _NamedSide(text, store.run(text, selection), "")
    except UnknownNameError as unknown:
        # A name that runs share is a run's all the same.
        if "several" in unknown.what or text == LATEST:
            raise
        return _NamedSide(text, None, text)


def _found(store: "Store", side: _NamedSide, selection: "Selection") -> Side:
    if side.run is not None and not side.what:
        return Side(run=side.run.id)
    searched = [side.run] if side.run is not None else store.runs(selection)[:SEARCHED]
    for run in searched:
        if found := _variants(store, run, side.what):
            return _side(side, run, found)
    measured = sorted({name for run in searched for name in store.variants(run.id)})
    raise UnknownNameError(
        f"there is no run or measured variant {side.text!r}",
        where=str(store.location),
        observed=f"variants of the {len(searched)} runs looked through: {', '.join(measured) or 'none'}",
        fix=FIX,
    )


def _side(side: _NamedSide, run: RunRecord, variants: Sequence[str]) -> Side:
    if len(variants) > 1:
        raise UnknownNameError(
            f"several variants have the options {side.what!r}",
            where=f"run {run.id}",
            observed=", ".join(variants),
            fix=f"name one of them: {run.id[-6:]}{OF_RUN}{variants[0]}",
        )
    return Side(run=run.id, variant=variants[0])


def _variants(store: "Store", run: RunRecord, what: str) -> list[str]:
    """Return the variants of a run that are named so, or have these options."""
    if "=" not in what:
        return [name for name in store.variants(run.id) if name == what]
    wanted = dict(entry.partition("=")[::2] for entry in what.split(","))
    cells = (cell for cell in store.cells(run.id) if cell.role is CellRole.SUBJECT)
    return list(dict.fromkeys(c.variant for c in cells if _has(described(store, c.config_hash), wanted.items())))


def _has(configuration: Mapping[str, Any], wanted: Iterable[tuple[str, str]]) -> bool:
    options = (configuration.get("variant") or {}).get("options") or {}
    return all(key in options and _text(options[key]) == value for key, value in wanted)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
