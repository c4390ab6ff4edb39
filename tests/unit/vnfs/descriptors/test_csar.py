"""Packages of others: each is made by hand, wrong in one place."""

import hashlib
import io
import random
import stat
import zipfile

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.vnfs.descriptors import archive, cloudimage, csar, parsing, sol
from nfvbed.vnfs.descriptors.typefiles import etsi_types
from tests.refusals import misconfigured
from tests.unit.vnfs.descriptors.requests import request

META = "TOSCA-Metadata/TOSCA.meta"
ENTRY = b"tosca_definitions_version: tosca_simple_yaml_1_2\n"
HASH = "8d69d0f4c4c8f1bbb2ed0c5a9a6fdaf0d8dd4e0f0a0e2f0c3e0b4f4e7d4a3c5b"


def written(tmp_path, members):
    """Write an archive of these members: content by path, or by ZipInfo."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as made:
        for path, data in members.items() if isinstance(members, dict) else members:
            made.writestr(path, data)
    path = tmp_path / "foreign.csar"
    path.write_bytes(content.getvalue())
    return path


def meta(*lines, entry="top.yaml"):
    return "\n".join(["TOSCA-Meta-File-Version: 1.0", f"Entry-Definitions: {entry}", *lines, ""]).encode()


def refused(path):
    before = sorted(path.parent.rglob("*"))
    failure = misconfigured(lambda: csar.read(path), where=str(path))
    assert sorted(path.parent.rglob("*")) == before
    return failure


def special(name, mode=stat.S_IFREG | 0o644):
    member = zipfile.ZipInfo(name)
    member.external_attr = mode << 16
    return member


def test_own_package_is_read_with_all_its_hashes(tmp_path):
    path = tmp_path / "vloop.csar"
    members = sol.files(request())
    path.write_bytes(csar.write(members))
    package = csar.read(path)
    assert package.entry == "Definitions/vloop.yaml"
    assert set(package.hashed) == set(members) - {META, "vloop.mf"}
    assert set(package.definitions) == {name for name in members if name.startswith("Definitions/")}


@pytest.mark.parametrize(
    ("member", "observed"),
    [
        (special("../outside"), "its path climbs out of the archive"),
        (special("Files/../../outside"), "its path climbs out of the archive"),
        (special("/etc/passwd"), "its path is absolute"),
        (special("C:/windows"), "its path is absolute"),
        (special("link", stat.S_IFLNK | 0o777), "it is a link"),
        (special("null", stat.S_IFCHR | 0o666), "it is a device, socket or pipe"),
        (special("Files\\..\\outside"), "its path has a backslash"),
        (special("one\x1b[2J"), "its path has a control character"),
        (special("n" * 1025), "its path has 1025 characters; 1024 are read"),
    ],
)
def test_member_that_would_be_written_elsewhere_is_refused(tmp_path, member, observed):
    found = refused(written(tmp_path, [(META, meta()), ("top.yaml", ENTRY), (member, b"x")]))
    assert found.observed == observed


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_path_are_refused(tmp_path):
    found = refused(written(tmp_path, [(META, meta()), ("top.yaml", ENTRY), ("top.yaml", b"other")]))
    assert found.observed == "there are two of this path"


def test_file_that_is_no_archive_is_refused(tmp_path):
    path = tmp_path / "foreign.csar"
    path.write_bytes(b"#!/bin/sh\n")
    assert "not a zip file" in refused(path).observed


def test_damaged_member_is_refused(tmp_path):
    path = written(tmp_path, {META: meta(), "top.yaml": ENTRY + b"# and more of it" * 99})
    content = bytearray(path.read_bytes())
    content[content.index(b"top.yaml") + 20] ^= 0xFF
    path.write_bytes(content)
    assert "is damaged" in refused(path).what


@pytest.mark.parametrize(("limit", "value"), [("MOST_MEMBERS", 1), ("MOST_BYTES", 100)])
def test_archive_that_unfolds_without_measure_is_refused(tmp_path, monkeypatch, limit, value):
    monkeypatch.setattr(archive, limit, value)
    assert "unfold without measure" in refused(written(tmp_path, {META: meta(), "top.yaml": ENTRY})).what


def test_text_that_is_too_long_is_refused_unread(tmp_path):
    huge = random.Random(1).randbytes(archive.MOST_TEXT_BYTES + 1)
    assert "too large to be read" in refused(written(tmp_path, {META: meta(), "top.yaml": huge})).what


def test_small_archive_of_a_huge_text_is_refused_unread(tmp_path):
    path = written(tmp_path, {META: meta(), "top.yaml": bytes(archive.MOST_TEXT_BYTES)})
    assert path.stat().st_size < 10_000
    assert "more than 200 times" in refused(path).observed


@pytest.mark.parametrize(
    ("method", "name"), [(zipfile.ZIP_BZIP2, "bzip2"), (zipfile.ZIP_LZMA, "LZMA")], ids=["bzip2", "lzma"]
)
def test_member_that_cannot_be_unpacked_in_pieces_is_refused(tmp_path, method, name):
    path = tmp_path / "foreign.csar"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr(META, meta())
    assert refused(path).observed == f"it is packed with {name}; deflate is read, and what is not packed"


def test_size_that_is_a_lie_bounds_what_is_read(tmp_path):
    path = written(tmp_path, {META: meta(), "top.yaml": ENTRY + b"# and more of it" * 10_000})
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = (60).to_bytes(4, "little")
    path.write_bytes(content)
    found = archive.Archive(path)
    assert found.sizes["top.yaml"] == 60
    with pytest.raises(ConfigurationError) as caught:
        found.content("top.yaml", 10**6)
    assert caught.value.what == "top.yaml is damaged"


def test_directory_that_is_too_long_is_refused_unread(tmp_path):
    path = tmp_path / "foreign.csar"
    with zipfile.ZipFile(path, "w") as made:
        for number in range(20_000):
            made.writestr(f"{number:060}", b"")
    assert f"{archive.MOST_DIRECTORY_BYTES} are read" in refused(path).observed


def test_manifest_of_too_many_blocks_is_refused(tmp_path):
    blocks = b"Source: top.yaml\n\n" * 4001
    path = written(tmp_path, {META: meta("ETSI-Entry-Manifest: top.mf"), "top.yaml": ENTRY, "top.mf": blocks})
    assert "4000 blocks" in refused(path).observed


def test_digest_of_a_member_that_is_named_often_is_computed_once(tmp_path):
    path = written(tmp_path, {"top.yaml": ENTRY})
    found = archive.Archive(path)
    first = found.digest("top.yaml", "sha256")
    path.unlink()
    assert found.digest("top.yaml", "sha256") == first == hashlib.sha256(ENTRY).hexdigest()


def test_definitions_that_are_too_much_together_are_refused(tmp_path):
    names = [f"{number}.yaml" for number in range(30)]
    many = ENTRY + b"metadata: {list: [" + b"1," * 4000 + b"]}\n"
    entry = ENTRY + f"imports: [{', '.join(names)}]\n".encode()
    found = refused(written(tmp_path, {META: meta(), "top.yaml": entry, **dict.fromkeys(names, many)}))
    assert found.what == "the definitions of foreign.csar hold too much"


def test_members_that_lie_over_each_other_are_refused(tmp_path):
    path = written(tmp_path, {META: meta(), "top.yaml": ENTRY, "Files/one": bytes(range(256)) * 300})
    content = path.read_bytes()
    at = content.rindex(b"PK\x01\x02")
    # The directory's last entry again, under another name: two members of the same bytes.
    record = content[at : content.index(b"PK\x05\x06")].replace(b"Files/one", b"Files/two")
    end = bytearray(content[content.index(b"PK\x05\x06") :])
    end[8:12] = bytes([4, 0, 4, 0])
    end[12:16] = (int.from_bytes(end[12:16], "little") + len(record)).to_bytes(4, "little")
    path.write_bytes(content[: content.index(b"PK\x05\x06")] + record + bytes(end))
    assert "they lie over each other" in refused(path).observed


def test_package_without_metadata_is_refused(tmp_path):
    found = refused(written(tmp_path, {"vloop/TOSCA-Metadata/TOSCA.meta": meta(), "vloop/top.yaml": ENTRY}))
    assert found.what == f"foreign.csar has no {META}"
    assert "not into a folder" in found.fix


def test_package_with_one_definition_in_its_root_needs_no_metadata(tmp_path):
    package = csar.read(written(tmp_path, {"VNF.yaml": ENTRY, "VNF.mf": b"metadata:\n  a: b\n"}))
    assert package.entry == "VNF.yaml"


def test_manifest_of_another_name_is_refused(tmp_path):
    found = refused(written(tmp_path, {"VNF.yaml": ENTRY, "VNF1.mf": b"metadata:\n  a: b\n"}))
    assert found.fix.startswith("name it VNF.mf")


def test_metadata_without_entry_is_refused(tmp_path):
    found = refused(written(tmp_path, {META: b"CSAR-Version: 1.1\n", "top.yaml": ENTRY}))
    assert "names no entry definitions" in found.what


def test_entry_that_is_not_there_is_refused_with_its_line(tmp_path):
    found = refused(written(tmp_path, {META: meta(entry="Definitions/none.yaml"), "Definitions/top.yaml": ENTRY}))
    assert found.where.endswith(f"!{META}:2")
    assert "Definitions/top.yaml" in found.fix


def test_manifest_that_is_not_there_is_refused(tmp_path):
    found = refused(written(tmp_path, {META: meta("ETSI-Entry-Manifest: x.mf"), "top.yaml": ENTRY}))
    assert found.where.endswith(f"!{META}:3")


def block(**keys):
    return "\n" + "\n".join(f"{key}: {value}" for key, value in keys.items())


@pytest.mark.parametrize(
    ("keys", "what", "line"),
    [
        ({"Source": "f", "Algorithm": "SHA-256", "Hash": HASH}, "f has another hash than", 6),
        ({"Name": "f", "Content-Type": "x", "Algorithm": "SHA-256", "Hash": HASH}, "f has another hash than", 7),
        ({"Source": "f", "Algorithm": "MD5", "Hash": HASH}, "unknown algorithm for f", 6),
        ({"Source": "g", "Algorithm": "SHA-256", "Hash": HASH}, "g is not in foreign.csar", 6),
        ({"Source": "f", "Hash": HASH}, "has no Algorithm", 4),
        ({"Algorithm": "SHA-256", "Hash": HASH}, "has no Source", 4),
        ({"Source": "f", "Algorithm": "SHA-256", "Hash": ""}, "has no Hash", 4),
    ],
)
def test_wrong_digest_is_refused_with_its_line(tmp_path, keys, what, line):
    found = refused(written(tmp_path, {META: meta(block(**keys)), "top.yaml": ENTRY, "f": b"content"}))
    assert what in found.what
    assert found.where.endswith(f"!{META}:{line}")


def test_a_digest_is_compared_whole_and_in_either_case(tmp_path):
    right = hashlib.sha256(b"content").hexdigest()
    for given, fits in ((right.upper(), True), (right[:8] + "0" * 56, False), (right[:-1] + "g", False)):
        keys = block(Source="f", Algorithm="SHA-256", Hash=given)
        path = written(tmp_path, {META: meta(keys), "top.yaml": ENTRY, "f": b"content"})
        if fits:
            assert "f" in csar.read(path).hashed
        else:
            assert "has another hash" in refused(path).what


def test_member_that_was_changed_is_refused(tmp_path):
    members = sol.files(request())
    members["UserData/lcm_user_data.py"] += b"import os\n"
    path = tmp_path / "vloop.csar"
    path.write_bytes(csar.write(members))
    assert refused(path).what == "UserData/lcm_user_data.py has another hash than vloop.mf gives"


def test_artifact_elsewhere_is_named_and_not_fetched(tmp_path):
    elsewhere = block(Source="http://192.0.2.1/f", Algorithm="SHA-256", Hash=HASH)
    package = csar.read(written(tmp_path, {META: meta(elsewhere), "top.yaml": ENTRY}))
    assert (package.external, package.hashed) == (("http://192.0.2.1/f",), ())


@pytest.mark.parametrize(
    "wanted", ["none.yaml", "/etc/passwd", "../outside.yaml", "http://192.0.2.1/types.yaml", "Definitions/../../x.yaml"]
)
def test_import_from_elsewhere_is_refused_with_its_line(tmp_path, wanted):
    text = ENTRY + f"imports:\n  - other.yaml\n  - {wanted}\n".encode()
    found = refused(written(tmp_path, {META: meta(), "top.yaml": text, "other.yaml": ENTRY}))
    assert found.where.endswith("!top.yaml:4 imports[1]")
    assert found.observed == wanted


@pytest.mark.parametrize("notation", ["file: other.yaml", "own: {file: other.yaml}", "own: other.yaml", "other.yaml"])
def test_imports_are_followed_in_every_notation(tmp_path, notation):
    text = ENTRY + f"imports:\n  - {notation}\n".encode()
    package = csar.read(written(tmp_path, {META: meta(), "top.yaml": text, "other.yaml": ENTRY}))
    assert list(package.definitions) == ["top.yaml", "other.yaml"]


def test_malformed_definitions_are_refused_with_line_and_column(tmp_path):
    found = refused(written(tmp_path, {META: meta(), "top.yaml": b"a: b\n c: [\n"}))
    assert "!top.yaml:" in found.where


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"- a list\n", b"a: [\n"])
def test_metadata_that_is_no_metadata_is_refused(tmp_path, content):
    refused(written(tmp_path, {META: content, "top.yaml": ENTRY}))


def with_image(tmp_path, change=(b"", b""), **packed):
    """Write a package with an image; with one text of its flavour changed."""
    file = tmp_path / "own.qcow2"
    file.write_bytes(b"an image")
    members = sol.files(request(image_file=file, checksums=cloudimage.checksums(file)))
    name = "Definitions/vloop_flavour.yaml"
    members[name] = members[name].replace(*change) if change[0] else members[name]
    del members[META], members["vloop.mf"]
    members = {META: meta(entry="Definitions/vloop.yaml"), **members, **packed}
    path = tmp_path / "foreign.csar"
    path.write_bytes(csar.write({name: data for name, data in members.items() if data is not None}))
    return path


def test_image_with_its_checksum_is_right(tmp_path):
    assert "Files/images/own.qcow2" in csar.read(with_image(tmp_path)).archive.sizes


@pytest.mark.parametrize(
    ("change", "packed", "what"),
    [
        ((b"", b""), {"Files/images/own.qcow2": b"another"}, "has another checksum than its descriptor gives"),
        ((b"", b""), {"Files/images/own.qcow2": None}, "is not in foreign.csar"),
        ((b"algorithm: sha-512", b"algorithm: md5"), {}, "unknown algorithm for the image"),
    ],
)
def test_wrong_image_is_refused_with_its_line(tmp_path, change, packed, what):
    found = refused(with_image(tmp_path, change, **packed))
    assert what in found.what
    assert "!Definitions/vloop_flavour.yaml:" in found.where


URL = "https://forge.etsi.org/rep/nfv/SOL001/raw/v2.6.1/etsi_nfv_sol001_common_types.yaml"
TOP = """\
tosca_definitions_version: tosca_simple_yaml_1_2
imports: [etsi_nfv_sol001_common_types.yaml, etsi_nfv_sol001_vnfd_types.yaml]
topology_template:
  node_templates:
    VL1: {type: tosca.nodes.nfv.VnfVirtualLink, properties: {vl_profile: {}}}
"""


@pytest.mark.parametrize("beside", [True, False])
def test_etsis_types_by_url_are_those_beside_or_nfvbeds_own(tmp_path, monkeypatch, beside):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("something is fetched"))
    types = etsi_types()
    # As ETSI publishes it: heat-translator's copy has this import as a comment.
    vnfd = types["etsi_nfv_sol001_vnfd_types.yaml"].decode()
    published = vnfd.replace("#imports:\n#  - https://forge.etsi.org/rep/nfv/sol001", f"imports:\n  - {URL}\n# ")
    assert URL in published
    top = TOP if beside else TOP.replace("etsi_nfv_sol001_common_types.yaml, ", "")
    members = {META: meta(entry="Definitions/top.yaml"), "Definitions/top.yaml": top.encode()}
    members["Definitions/etsi_nfv_sol001_vnfd_types.yaml"] = published.encode()
    if beside:
        members["Definitions/etsi_nfv_sol001_common_types.yaml"] = types["etsi_nfv_sol001_common_types.yaml"]
    found = csar.read(written(tmp_path, members))
    (note,) = found.notes
    assert note.startswith(URL)
    assert ("nfvbed has it" in note) is not beside
    assert URL in found.archive.text("Definitions/etsi_nfv_sol001_vnfd_types.yaml"), "for Tacker it stays as it is"
    with pytest.raises(ConfigurationError) as failure:
        parsing.parse_package(found)
    assert "vl_profile" in str(failure.value) or "max_bitrate" in str(failure.value), "the types are known"


def test_another_url_stays_refused(tmp_path):
    top = TOP.replace("etsi_nfv_sol001_common_types.yaml, ", "https://example.org/other_types.yaml, ")
    found = refused(written(tmp_path, {META: meta(), "top.yaml": top.encode()}))
    assert (found.observed, "nothing is fetched" in found.fix) == ("https://example.org/other_types.yaml", True)
