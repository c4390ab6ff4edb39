"""A bundle that was made is consistent; one that was changed is not, and what was changed is named."""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from securesystemslib.signer import CryptoSigner

from nfvbed.bundle.archive import COMPARISON, CRATE, DISCLOSED, ENVELOPE, RUN, STATEMENT, open_archive, write_archive
from nfvbed.bundle.making import make, prepare
from nfvbed.bundle.recomputing import contradictions
from nfvbed.bundle.signing import Signer, read_signer, read_trusted
from nfvbed.bundle.statement import Signature, read_statement, state
from nfvbed.bundle.verification import Verification, verify
from nfvbed.errors import BundleError, ConfigurationError
from nfvbed.records.results import LoadPoint, LoadsPayload, ResultKind, ResultRecord
from nfvbed.store import content_hash
from nfvbed.store.transfer import RunDocument
from tests.bundle_runs import named_document

TRIALS = 32
MINE, OTHERS = (Signer(CryptoSigner.generate_ed25519()) for _ in range(2))


@pytest.fixture(scope="module", name="document")
def _document() -> RunDocument:
    return named_document()


@pytest.fixture(scope="module", name="made")
def _made(document: RunDocument) -> bytes:
    return make(prepare(document, redacted=False), document, None).content


@pytest.fixture(scope="module", name="signed")
def _signed(document: RunDocument) -> bytes:
    return make(prepare(document, redacted=True), document, MINE).content


def _changed(made: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """The bundle with another content of a file, and with digests that fit, as a cheater would make it."""
    files = dict(open_archive(made, "x").files)
    stated = read_statement(files.pop(STATEMENT))
    files[name] = change(files[name])
    return write_archive({**files, STATEMENT: state(files, stated.predicate)})


def _json(change: Callable[[dict], None]) -> Callable[[bytes], bytes]:
    def changed(content: bytes) -> bytes:
        document = json.loads(content)
        change(document)
        return json.dumps(document).encode()

    return changed


def _faults(found: Verification) -> dict[str, str]:
    return {fault.where: fault.observed for fault in found.faults}


def test_what_was_made_is_consistent(made: bytes):
    found = verify(made, "x.zip")
    assert (found.is_consistent, found.signature, found.redacted) == (True, Signature.NONE, False)
    assert (found.trials, found.verdicts) == (TRIALS, 1)
    assert all(name.endswith(".svg") for name in found.by_digest_alone) and found.by_digest_alone


def test_what_is_disclosed_is_the_first_file_and_all_are_in_the_crate(made: bytes):
    files = open_archive(made, "x").files
    assert list(files)[:2] == [DISCLOSED, CRATE]
    parts = {part["@id"] for part in json.loads(files[CRATE])["@graph"][1]["hasPart"]}
    assert parts == set(files) - {CRATE}


def test_signatures_of_trusted_unknown_and_no_keys(signed: bytes):
    trusted, other = MINE.private.public_key, OTHERS.private.public_key
    assert verify(signed, "x", [trusted]).signature is Signature.TRUSTED
    assert verify(signed, "x", [other]).signature is Signature.UNKNOWN
    found = verify(signed, "x")
    assert (found.signature, found.keyid, found.is_consistent) == (Signature.UNKNOWN, trusted.keyid, True)


def test_a_signature_over_something_else_does_not_fit(signed: bytes):
    files = dict(open_archive(signed, "x").files)
    envelope = json.loads(files[ENVELOPE])
    envelope["signatures"] = json.loads(OTHERS.sign(b"{}"))["signatures"]
    found = verify(write_archive(files | {ENVELOPE: json.dumps(envelope).encode()}), "x", [MINE.private.public_key])
    assert (found.signature, list(_faults(found))) == (Signature.BROKEN, [ENVELOPE])


@pytest.mark.parametrize("part", [0.02, 0.2, 0.4, 0.6, 0.8, 0.95])
def test_one_changed_byte_is_found_and_its_file_named(made: bytes, part: float):
    place = int(len(made) * part)
    changed = made[:place] + bytes([made[place] ^ 0x10]) + made[place + 1 :]
    owner = _file_at(made, place)
    faults = _faults(verify(changed, "x"))
    assert (list(faults) == [owner], bool(faults)) == (True, True), faults


def _file_at(made: bytes, place: int) -> str:
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        return max((e for e in archive.infolist() if e.header_offset <= place), key=lambda e: e.header_offset).filename


def test_a_byte_between_the_files_is_found(made: bytes):
    # The time of the first file, in its own header, which no reader needs.
    changed = made[:10] + b"\x01" + made[11:]
    assert list(_faults(verify(changed, "x"))) == ["the archive itself"]


def test_a_verdict_that_was_written_otherwise_is_named(made: bytes):
    def higher(document: dict) -> None:
        document["differences"][0]["judgement"]["verdict"] = "same"

    faults = _faults(verify(_changed(made, COMPARISON, _json(higher)), "x"))
    assert faults == {COMPARISON: 'differences[0].judgement.verdict: "same"; recomputed "higher"'}


def test_a_trial_whose_rate_does_not_follow_from_its_frames_is_named(made: bytes):
    def faster(document: dict) -> None:
        document["trials"][3]["forwarded_rate_pps"] *= 2

    faults = _faults(verify(_changed(made, RUN, _json(faster)), "x"))
    assert f"{RUN}: trial 3" in faults


def test_trials_that_were_left_out_are_found_by_what_came_of_them(made: bytes):
    def fewer(document: dict) -> None:
        del document["trials"][-20:]

    assert COMPARISON in _faults(verify(_changed(made, RUN, _json(fewer)), "x"))


def test_a_figure_that_shows_something_else_is_named(made: bytes):
    name = "figures/rate.vl.json"
    faults = _faults(verify(_changed(made, name, lambda content: content.replace(b"ovs-dpdk", b"ovs-best")), "x"))
    assert list(faults) == [name]


def test_files_that_nobody_states_or_that_are_missing_are_named(made: bytes):
    files = dict(open_archive(made, "x").files)
    more = write_archive(files | {"figures/more.svg": b"<svg/>"})
    assert _faults(verify(more, "x")) == {"figures/more.svg": "statement.json does not name it"}
    del files[RUN]
    assert _faults(verify(write_archive(files), "x")) == {RUN: "it is missing; statement.json names it"}


def test_other_rules_are_told_and_nothing_is_said_of_verdicts(made: bytes):
    files = dict(open_archive(made, "x").files)
    stated = read_statement(files.pop(STATEMENT))
    other = stated.predicate.model_copy(update={"verdict_rule": 99})
    found = verify(write_archive({**files, STATEMENT: state(files, other)}), "x")
    assert (found.is_consistent, found.faults, found.verdicts) == (False, (), 0)
    assert "verdict rule 99" in found.not_recomputed


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff", b"{}", b'{"_type": 1}'])
def test_statements_that_are_none_are_named(made: bytes, content: bytes):
    files: Mapping[str, bytes] = open_archive(made, "x").files | {STATEMENT: content}
    assert list(_faults(verify(write_archive(files), "x"))) == [STATEMENT]
    assert list(_faults(verify(write_archive({ENVELOPE: content}), "x"))) == [ENVELOPE]


def test_a_word_that_is_part_of_the_run_is_refused(document: RunDocument):
    with pytest.raises(BundleError, match="cannot be redacted"):
        make(prepare(document, redacted=True, words=["ok"]), document, None)


def test_keys_are_read_from_files(tmp_path: Path):
    key = Ed25519PrivateKey.generate()
    private, public, locked = (tmp_path / name for name in ("key.pem", "key.pub", "locked.pem"))
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")))
    assert read_signer(private).public["keyid"] == read_trusted([public])[0].keyid
    with pytest.raises(ConfigurationError, match="cannot be used") as caught:
        read_signer(locked)
    assert "passphrase" in caught.value.observed
    with pytest.raises(ConfigurationError):
        read_trusted([private])


def test_rates_of_tools_between_sockets_are_those_of_interfaces(document: RunDocument):
    """Their trials count messages, or nothing."""
    first, *others = document.trials
    counted = {"preset": ResultKind.TCP_THROUGHPUT, "directions": (), "forwarded_rate_pps": 20_740}
    assert (
        list(contradictions(document.model_copy(update={"trials": (first.model_copy(update=counted), *others)}))) == []
    )
    wrong = first.model_copy(update={"forwarded_rate_pps": first.forwarded_rate_pps + 2})
    found = list(contradictions(document.model_copy(update={"trials": (wrong, *others)})))
    assert [place for place, _ in found] == [f"trial {first.sequence}"]


def test_a_point_that_is_not_its_trials_is_a_contradiction(document: RunDocument):
    trial = document.trials[0]
    point = LoadPoint(
        sequence=trial.sequence,
        intended_load_pps=1,
        offered_load_pps=1,
        forwarded_rate_pps=trial.forwarded_rate_pps,
        intended_frames=1,
        lost_frames=0,
        unsent_frames=0,
        duration_ns=trial.duration_ns,
    )

    def with_point(**changed: int) -> RunDocument:
        payload = LoadsPayload(points=(point.model_copy(update=changed),)).model_dump(mode="json")
        result = ResultRecord(
            run=trial.run, cell=trial.cell, round=0, test="soak", kind=ResultKind.SOAK, payload=payload,
            started_at=trial.started_at, ended_at=trial.started_at,
        )  # fmt: skip
        return document.model_copy(update={"results": (result,)})

    assert list(contradictions(with_point())) == []
    assert len(list(contradictions(with_point(forwarded_rate_pps=1)))) == 1
    assert len(list(contradictions(with_point(sequence=999_999)))) == 1


def _rehashed(document: dict) -> None:
    """Give descriptions the hashes of what they are now, as far as they have one."""
    renamed = {digest: content_hash(blob["value"]) for digest, blob in document["blobs"].items()}
    document["blobs"] = {renamed[digest]: blob for digest, blob in document["blobs"].items()}
    for row in (document["run"], *document["cells"]):
        row |= {key: renamed.get(value, value) for key, value in row.items() if key.endswith("_hash")}


def _a_direction_that_is_a_number(document: dict) -> None:
    document["trials"][3]["directions"][1] = float("nan")


def _a_count_that_is_none(document: dict) -> None:
    document["trials"][3]["directions"][0]["refused"] = None


def _a_description_with_infinity(document: dict) -> None:
    next(iter(document["blobs"].values()))["value"] = {"cpu": float("inf")}


def _a_rig_of_another_form(document: dict) -> None:
    rig = next(blob for blob in document["blobs"].values() if blob["kind"] == "rig")
    rig["value"]["arrangement"]["switch_cores"] = [[]]
    _rehashed(document)


def _a_number_that_no_column_holds(document: dict) -> None:
    document["trials"][3]["duration_ns"] = 2**70


def _a_payload_of_another_form(document: dict) -> None:
    trial = document["trials"][0]
    document["results"] = [
        {"run": trial["run"], "cell": trial["cell"], "round": 0, "test": "soak", "kind": "soak",
         "started_at": "", "ended_at": "", "payload": {"points": "none"}}
    ]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        _a_direction_that_is_a_number,
        _a_count_that_is_none,
        _a_description_with_infinity,
        _a_rig_of_another_form,
        _a_number_that_no_column_holds,
        _a_payload_of_another_form,
    ],
)
def test_rows_of_another_form_are_a_fault_of_the_run(made: bytes, change: Callable[[dict], None]):
    places = list(_faults(verify(_changed(made, RUN, _json(change)), "x")))
    assert places and all(place.startswith(RUN) for place in places)
