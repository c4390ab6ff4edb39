"""A run out of a store into a bundle: redacted where asked for, compared, drawn, digested and signed."""

import json
import socket
from collections.abc import Collection
from dataclasses import dataclass

from pydantic import ValidationError

from nfvbed import __version__
from nfvbed.bundle.archive import (
    COMPARISON,
    CRATE,
    DISCLOSED,
    ENVELOPE,
    PICTURE,
    RUN,
    SPECIFICATION,
    STATEMENT,
    TABLE,
    write_archive,
)
from nfvbed.bundle.crate import describe
from nfvbed.bundle.disclosing import disclosure
from nfvbed.bundle.recomputing import compared, first_difference
from nfvbed.bundle.redaction import Identifiers, find, redact
from nfvbed.bundle.signing import Signer
from nfvbed.bundle.statement import Predicate, state
from nfvbed.compare.comparison import Comparison
from nfvbed.errors import BundleError, DrawingError
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.drawing import DRAWING
from nfvbed.report.figures.catalogue import figures, to_svg
from nfvbed.report.load import LoadedRuns
from nfvbed.store.clock import utc_now
from nfvbed.store.transfer import RunDocument


@dataclass(frozen=True)
class Preparation:
    """A run as it goes into a bundle, and what that tells of whose machines these are."""

    document: RunDocument
    disclosed: tuple[str, ...]
    redacted: bool
    replaced: Identifiers | None


@dataclass(frozen=True)
class UnwrittenBundle:
    """A bundle that is not written yet."""

    content: bytes
    not_drawn: dict[str, str]
    """Pictures that could not be drawn, with the reason."""


def prepare(document: RunDocument, *, redacted: bool, words: Collection[str] = ()) -> Preparation:
    """Return what of a run goes into its bundle.

    Args:
        words: further names to replace.

    Raises:
        BundleError: with the replacements it is no run any more.
    """
    found = find(document, words, hosts=(socket.gethostname(),))
    lines = tuple(disclosure(document, found, redacted=redacted))
    if not redacted:
        return Preparation(document, lines, redacted, None)
    try:
        return Preparation(redact(document, found), lines, redacted, found)
    except (ValidationError, ValueError) as error:
        raise BundleError(
            "the run cannot be redacted: with the replacements it is no run any more",
            where=f"run {document.run.id}",
            observed=str(error),
            fix="leave out a --word that is one of nfvbed's own words",
        ) from error


def make(prepared: Preparation, original: RunDocument, signer: Signer | None) -> UnwrittenBundle:
    """Return the bundle of a run.

    Args:
        original: the run as the store has it.

    Raises:
        BundleError: the redacted run has other verdicts than the run.
        DamagedError, NotComparableError: the run cannot be compared.
    """
    loaded, comparison = compared(prepared.document)
    if prepared.redacted:
        _require_same_verdicts(comparison, compared(original)[1], original.run.id)
    files = {
        DISCLOSED: ("\n".join(("# What this bundle discloses", "", *prepared.disclosed)) + "\n").encode(),
        RUN: prepared.document.model_dump_json().encode(),
        COMPARISON: to_json(comparison).encode(),
        TABLE: to_csv(comparison).encode(),
    }
    pictures, not_drawn = _drawn(comparison)
    files |= pictures
    predicate = _predicate(prepared, comparison, not_drawn, signer)
    return UnwrittenBundle(_packed(files, predicate, loaded, signer), not_drawn)


def _packed(files: dict[str, bytes], predicate: Predicate, loaded: LoadedRuns, signer: Signer | None) -> bytes:
    run = loaded.data[0].run
    stated = ENVELOPE if signer else STATEMENT
    crate = describe(files, stated, predicate, loaded.title, (run.started_at, run.ended_at or ""))
    # What is disclosed is the first file, and what describes the others the second.
    ordered = {DISCLOSED: files[DISCLOSED], CRATE: crate} | files
    statement = state(ordered, predicate)
    return write_archive(ordered | {stated: signer.sign(statement) if signer else statement})


def _predicate(
    prepared: Preparation, comparison: Comparison, not_drawn: dict[str, str], signer: Signer | None
) -> Predicate:
    return Predicate(
        nfvbed=__version__,
        made_at=utc_now(),
        run=prepared.document.run.id,
        experiment=prepared.document.run.experiment,
        redacted=prepared.redacted,
        comparison_format=comparison.format,
        verdict_rule=comparison.verdict_rule,
        placement_rule=comparison.placement_rule,
        not_drawn=not_drawn,
        signer=signer.public if signer else None,
    )


def _require_same_verdicts(redacted: Comparison, original: Comparison, run: str) -> None:
    """Raise where names that were replaced had a part in a figure or a verdict."""
    sides = [
        [judged.judgement.model_dump(mode="json") for judged in comparison.differences]
        for comparison in (original, redacted)
    ]
    rates = [[row.mrr.model_dump(mode="json") if row.mrr else None for row in one.rows] for one in (original, redacted)]
    difference = first_difference(sides[0], sides[1], "verdicts") or first_difference(rates[0], rates[1], "rates")
    if difference:
        raise BundleError(
            "the run cannot be redacted: with the replacements it has other verdicts",
            where=f"run {run}",
            observed=difference,
            fix="leave out a --word that is one of nfvbed's own words",
        )


def _drawn(comparison: Comparison) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the figures, as specifications and as pictures; and the pictures that could not be drawn."""
    DRAWING.begin()
    files, not_drawn = dict[str, bytes](), dict[str, str]()
    for name, spec in figures(comparison).items():
        files[f"figures/{name}{SPECIFICATION}"] = json.dumps(spec, indent=1).encode()
        picture = f"figures/{name}{PICTURE}"
        try:
            files[picture] = to_svg(spec)
        except DrawingError as failure:
            not_drawn[picture] = failure.observed
    return files, not_drawn
