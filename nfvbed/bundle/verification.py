"""Whether a bundle is consistent, and whose signature it has; without network, and nothing of it is executed.

Recomputing shows that verdicts, tables and figures follow from the trials. It does not show that the trials happened:
that is whom you trust, which a signature by a key you know stands for.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from securesystemslib.signer import SSlibKey

from nfvbed.bundle.archive import (
    COMPARISON,
    CRATE,
    ENVELOPE,
    PICTURE,
    RUN,
    SPECIFICATION,
    STATEMENT,
    TABLE,
    OpenedArchive,
    open_archive,
)
from nfvbed.bundle.crate import parts_of
from nfvbed.bundle.recomputing import compared, contradictions, first_difference, verdicts_in
from nfvbed.bundle.signing import open_envelope
from nfvbed.bundle.statement import Signature, Statement, digest_of, read_statement
from nfvbed.compare.comparison import COMPARISON_FORMAT, Comparison
from nfvbed.compare.rows.placement import PLACEMENT_RULE
from nfvbed.compare.verdict import VERDICT_RULE
from nfvbed.errors import ConfigurationError, NfvbedError
from nfvbed.records import Record
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.figures.catalogue import drawings
from nfvbed.report.load import of_runs
from nfvbed.store.transfer import RunDocument, read_run

_HEADERS: Final = "the archive itself"
_MOST_SHOWN: Final = 20
"""Contradictions within the run that are told."""


class Fault(Record):
    """Something that is not as it should be, and where."""

    where: str
    """A file of the bundle, a place in it, or the archive itself."""
    observed: str


class Verification(Record):
    """What came of checking a bundle."""

    faults: tuple[Fault, ...]
    signature: Signature
    keyid: str = ""
    run: str = ""
    experiment: str = ""
    nfvbed: str = ""
    """Version that made it."""
    made_at: str = ""
    redacted: bool = False
    files: int = 0
    trials: int = 0
    verdicts: int = 0
    """Recomputed from the trials."""
    not_recomputed: str = ""
    """Why verdicts were not recomputed, though nothing is wrong; empty: they were."""
    by_digest_alone: tuple[str, ...] = ()
    """Files whose content was not made again."""

    @property
    def is_consistent(self) -> bool:
        """Whether nothing is wrong, and all verdicts were recomputed."""
        return not self.faults and not self.not_recomputed


@dataclass(frozen=True)
class CheckedBundle:
    """A bundle that was checked; what is in it only where nothing is wrong and all was recomputed."""

    verification: Verification
    document: RunDocument | None = None
    comparison: Comparison | None = None
    content: bytes = b""
    """Content of the bundle's file; empty where its digests are wrong."""


def verify(content: bytes, where: str, trusted: Sequence[SSlibKey] = ()) -> Verification:
    """Check a bundle, as `open_bundle` does, and return what came of it."""
    return open_bundle(content, where, trusted).verification


def open_bundle(content: bytes, where: str, trusted: Sequence[SSlibKey] = ()) -> CheckedBundle:
    """Check a bundle.

    Args:
        content: content of the bundle's file.
        trusted: public keys of those whose signature counts.

    Raises:
        ConfigurationError: it is no bundle, or has what no bundle has.
    """
    archive = open_archive(content, where)
    faults = [
        Fault(where=name, observed=f"it cannot be unpacked: {reason}") for name, reason in archive.damaged.items()
    ]
    try:
        statement, signature, keyid = _stated(archive, trusted)
    except ValueError as error:
        fault = Fault(where=_statement_of(archive), observed=str(error))
        return CheckedBundle(Verification(faults=(*faults, fault), signature=Signature.BROKEN))
    if signature is Signature.BROKEN:
        faults.append(Fault(where=ENVELOPE, observed=f"the signature of key {keyid} does not fit what it signs"))
    faults += _wrong_digests(archive, statement)
    if not archive.sealed and not faults:
        faults.append(Fault(where=_HEADERS, observed="a byte between its files, or of its own digest, was changed"))
    said = statement.predicate
    checked = Verification(
        faults=tuple(faults),
        signature=signature,
        keyid=keyid,
        run=said.run,
        experiment=said.experiment,
        nfvbed=said.nfvbed,
        made_at=said.made_at,
        redacted=said.redacted,
        files=len(archive.files) + len(archive.damaged),
    )
    # What was changed is told by its name; what follows of changed rows would only be noise.
    if faults:
        return CheckedBundle(checked)
    return replace(_recomputed(checked, archive.files, statement, where), content=content)


def _statement_of(archive: OpenedArchive) -> str:
    return ENVELOPE if ENVELOPE in (*archive.files, *archive.damaged) else STATEMENT


def _stated(archive: OpenedArchive, trusted: Sequence[SSlibKey]) -> tuple[Statement, Signature, str]:
    """Return what the bundle says of its files, whose signature that has, and of which key.

    Raises:
        ValueError: there is no statement, or two, or it is none.
    """
    if ENVELOPE in archive.files and STATEMENT in archive.files:
        raise ValueError(f"there is {STATEMENT} beside it; a bundle has one of them")
    if ENVELOPE in archive.files:
        opened = open_envelope(archive.files[ENVELOPE], trusted)
        return read_statement(opened.payload), opened.signature, opened.keyid
    if STATEMENT not in archive.files:
        raise ValueError("the statement with the digests is missing or damaged")
    return read_statement(archive.files[STATEMENT]), Signature.NONE, ""


def _wrong_digests(archive: OpenedArchive, statement: Statement) -> Iterator[Fault]:
    stated = {subject.name: subject.digest.sha256 for subject in statement.subject}
    own = _statement_of(archive)
    if len(stated) != len(statement.subject):
        yield Fault(where=own, observed="it names a file twice")
    for name in sorted({*stated, *archive.files} - {own} - set(archive.damaged)):
        if name not in stated:
            yield Fault(where=name, observed=f"{own} does not name it")
        elif name not in archive.files:
            yield Fault(where=name, observed=f"it is missing; {own} names it")
        elif (found := digest_of(archive.files[name])) != stated[name]:
            yield Fault(where=name, observed=f"it was changed: its SHA-256 is {found}, not {stated[name]}")


def _recomputed(checked: Verification, files: Mapping[str, bytes], statement: Statement, where: str) -> CheckedBundle:
    said, lacking = statement.predicate, sorted({RUN, COMPARISON, TABLE, CRATE} - set(files))
    if lacking:
        missing = tuple(Fault(where=name, observed="it is missing") for name in lacking)
        return CheckedBundle(checked.model_copy(update={"faults": missing}))
    faults = list(_wrong_crate(files))
    try:
        document = read_run(files[RUN].decode(), f"{where}: {RUN}")
    except (UnicodeDecodeError, ConfigurationError) as error:
        faults.append(Fault(where=RUN, observed=str(error)))
        return CheckedBundle(checked.model_copy(update={"faults": tuple(faults)}))
    if (document.run.id, document.run.experiment) != (said.run, said.experiment):
        faults.append(Fault(where=RUN, observed=f"it is run {document.run.id}; the statement is of {said.run}"))
    found = contradictions(document)
    faults += [Fault(where=f"{RUN}: {place}", observed=seen) for place, seen in _some(found)]
    checked = checked.model_copy(update={"trials": len(document.trials)})
    rules = (said.comparison_format, said.verdict_rule, said.placement_rule)
    ours = (COMPARISON_FORMAT, VERDICT_RULE, PLACEMENT_RULE)
    if rules != ours:
        reason = (
            f"it was made by nfvbed {said.nfvbed} with comparison format {rules[0]}, verdict rule {rules[1]} and "
            f"placement rule {rules[2]}; this nfvbed has {ours[0]}, {ours[1]} and {ours[2]}"
        )
        return CheckedBundle(checked.model_copy(update={"faults": tuple(faults), "not_recomputed": reason}))
    return _made_again(checked, files, document, faults)


def _some(found: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    return [entry for entry, _ in zip(found, range(_MOST_SHOWN), strict=False)]


def _made_again(
    checked: Verification, files: Mapping[str, bytes], document: RunDocument, faults: list[Fault]
) -> CheckedBundle:
    try:
        comparison = compared(document)[1]
        with of_runs([document.run]):
            faults += _wrong_files(files, comparison)
    except NfvbedError as error:
        faults.append(Fault(where=RUN, observed=f"no comparison can be made of it: {error}"))
        return CheckedBundle(checked.model_copy(update={"faults": tuple(faults)}))
    by_digest = tuple(sorted(name for name in files if name.endswith(PICTURE)))
    update = {"faults": tuple(faults), "verdicts": verdicts_in(comparison), "by_digest_alone": by_digest}
    found = checked.model_copy(update=update)
    return CheckedBundle(found) if faults else CheckedBundle(found, document, comparison)


def _wrong_files(files: Mapping[str, bytes], comparison: Comparison) -> Iterator[Fault]:
    """Yield how comparison, table and figures differ from those that the trials give."""
    yield from _different(COMPARISON, files[COMPARISON], lambda: json.loads(to_json(comparison)))
    if files[TABLE] != (again := to_csv(comparison).encode()):
        said, found = files[TABLE].decode(errors="replace").splitlines(), again.decode().splitlines()
        lines = (n for n in range(max(len(said), len(found))) if said[n : n + 1] != found[n : n + 1])
        yield Fault(where=TABLE, observed=f"line {next(lines, 0) + 1} is not what the trials give")
    made = {f"figures/{name}{SPECIFICATION}": drawing for name, drawing in drawings(comparison).items()}
    there = {name for name in files if name.endswith(SPECIFICATION)}
    for name in sorted(there ^ set(made)):
        yield Fault(where=name, observed="it is missing" if name in made else "the trials give no such figure")
    for name in sorted(there & set(made)):
        yield from _different(name, files[name], partial(made[name].make, checked=False))


def _different(name: str, content: bytes, again: Callable[[], Any]) -> Iterator[Fault]:
    try:
        said = json.loads(content)
        difference = first_difference(said, json.loads(json.dumps(again())))
    except (ValueError, RecursionError) as error:
        difference = f"it is no JSON: {error}"
    if difference:
        yield Fault(where=name, observed=difference)


def _wrong_crate(files: Mapping[str, bytes]) -> Iterator[Fault]:
    try:
        parts = parts_of(files[CRATE])
    except ValueError as error:
        yield Fault(where=CRATE, observed=str(error))
        return
    if odd := sorted({*parts} ^ ({*files} - {CRATE})):
        yield Fault(where=CRATE, observed=f"its parts are not the files that there are: {odd[0]}"[:200])
