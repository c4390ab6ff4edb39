"""Names, addresses and serials in a run: found, and replaced so that it stays the same run."""

import re

import pytest

from nfvbed.bundle.disclosing import disclosure
from nfvbed.bundle.redaction import IdentifierKind, find, redact
from nfvbed.store.transfer import RunDocument, read_run
from tests.bundle_runs import SERVER, named_document

NAMES = (
    "rack7-node3",
    "example.net",
    "acme",
    "alice",
    "10.20.30.40",
    "2a00:1450::5",
    "3c:fd:fe:9e:00:01",
    "J1K2L3",
    SERVER,
)


@pytest.fixture(scope="module", name="document")
def _document() -> RunDocument:
    return named_document()


def test_every_sort_is_found(document: RunDocument):
    found = find(document)
    assert {sort: sorted(values) for sort, values in found.values.items()} == {
        IdentifierKind.HOST: ["identity", "identity.acme.test", "rack7-node3", "rack7-node3.example.net"],
        IdentifierKind.PROJECT: ["acme-5g"],
        IdentifierKind.USER: ["alice"],
        IdentifierKind.SERIAL: ["J1K2L3"],
        IdentifierKind.ADDRESS: ["10.20.30.40", "2a00:1450::5", "fe80::1"],
        IdentifierKind.MAC: ["3c:fd:fe:9e:00:01"],
        IdentifierKind.UUID: [SERVER],
        IdentifierKind.WORD: [],
    }


def test_nothing_of_it_is_left(document: RunDocument):
    text = redact(document, find(document)).model_dump_json()
    assert [name for name in NAMES if name in text] == []


def test_what_is_left_is_a_run_whose_hashes_are_right(document: RunDocument):
    redacted = redact(document, find(document))
    assert read_run(redacted.model_dump_json(), "redacted") == redacted
    assert [trial.latency_hdr for trial in redacted.trials] == [trial.latency_hdr for trial in document.trials]
    assert redacted.run.host_hash in redacted.blobs


def test_versions_and_pci_addresses_stay(document: RunDocument):
    text = redact(document, find(document)).model_dump_json()
    assert all(kept in text for kept in ("0000:3b:00.0", "10.0.2.1", "6.1.0.13", "0x1572"))


def test_equal_names_have_equal_replacements(document: RunDocument):
    text = redact(document, find(document)).model_dump_json()
    replaced = set(re.findall(r"host-\d+", text))
    assert "of host-" in text and len(replaced) == 2


def test_a_word_of_nfvbed_is_replaced_only_where_a_key_says_whose_it_is(document: RunDocument):
    blob = document.blobs[document.run.doctor_hash]
    named = document.model_copy(
        update={
            "blobs": {
                **document.blobs,
                document.run.doctor_hash: blob.model_copy(update={"value": {"host": "subject"}}),
            }
        }
    )
    found = find(named)
    assert found.ambiguous == ["subject"]
    redacted = redact(named, found)
    assert redacted.cells[0].role.value == "subject"
    assert redacted.blobs[redacted.run.doctor_hash].value == {"host": "host-3"}


def test_words_of_the_user_are_replaced_everywhere(document: RunDocument):
    text = redact(document, find(document, words=["Example"])).model_dump_json()
    assert "Example CPU" not in text and "word-1 CPU" in text


def test_the_names_come_first_in_what_is_disclosed(document: RunDocument):
    plain = disclosure(document, find(document), redacted=False)
    assert plain[0] == "Disclosed (nothing was replaced; --redact does):"
    assert plain[1].startswith("- host names: ") and "rack7-node3.example.net" in plain[1]
    assert "- labels, notes and remarks of people: 1, with who wrote them" in plain
    told = disclosure(document, find(document), redacted=True)
    assert not any(name in line for name in NAMES for line in told)
    assert "- labels, notes and remarks of people: 1, left out" in told
