"""The archive of a bundle: nothing of it is believed, and no byte of it can change unseen."""

import io
import stat
import zipfile

import pytest

from nfvbed.bundle import archive
from nfvbed.bundle.archive import open_archive, write_archive
from nfvbed.errors import ConfigurationError

FILES = {"DISCLOSED.md": b"nothing", "run.json": b'{"a": 1}' * 200}


def _zip(*entries: tuple[zipfile.ZipInfo | str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as target:
        for name, content in entries:
            target.writestr(name, content)
    return made.getvalue()


def _refused(content: bytes) -> str:
    with pytest.raises(ConfigurationError) as caught:
        open_archive(content, "x.zip")
    return f"{caught.value.what}: {caught.value.observed}"


def test_files_come_back_as_they_went_in_and_in_their_order():
    opened = open_archive(write_archive(FILES), "x.zip")
    assert (list(opened.files.items()), opened.damaged, opened.sealed) == (list(FILES.items()), {}, True)


def test_every_changed_byte_is_seen():
    made = write_archive(FILES)
    unseen = []
    for place in range(len(made)):
        changed = made[:place] + bytes([made[place] ^ 1]) + made[place + 1 :]
        try:
            opened = open_archive(changed, "x.zip")
        except ConfigurationError:
            continue
        if opened.sealed and not opened.damaged:
            unseen.append(place)
    assert unseen == []


@pytest.mark.parametrize(
    "name", ["../run.json", "/etc/passwd", "figures/../run.json", "figures/a.html", "run.json/", "figures\\a.svg", ""]
)
def test_no_other_name_is_read(name: str):
    assert "no file of a bundle is named so" in _refused(_zip((zipfile.ZipInfo(name), b"x")))


def test_links_are_refused():
    link = zipfile.ZipInfo("run.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "it is a link" in _refused(_zip((link, b"/etc/passwd")))


def test_a_name_that_is_there_twice_is_refused():
    with pytest.warns(UserWarning):
        content = _zip(("run.json", b"a"), ("run.json", b"b"))
    assert "'run.json' is there twice" in _refused(content)


def test_other_ways_of_packing_are_refused():
    assert "packed in a way" in _refused(_zip(("run.json", b"a"), method=zipfile.ZIP_LZMA))


def test_what_grows_beyond_the_bounds_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr(archive, "MOST_CONTENT", 1000)
    assert "more than 1000 bytes when unpacked" in _refused(_zip(("run.json", b"0" * 1001)))
    monkeypatch.setattr(archive, "MOST_UNPACKED", 500)
    assert "501 bytes when unpacked" in _refused(_zip(("run.json", b"0" * 501)))
    monkeypatch.setattr(archive, "MOST_FILES", 1)
    assert "2 files" in _refused(_zip(("run.json", b""), ("comparison.csv", b"")))


def test_a_directory_of_many_entries_is_not_read():
    names = (zipfile.ZipInfo(f"{number:0200}") for number in range(400))
    assert "its directory has " in _refused(_zip(*((name, b"") for name in names)))


def test_no_more_is_unpacked_than_the_directory_says():
    """A bomb's directory says that little comes of what becomes much."""
    content = _zip(("run.json", b"0" * 1_000_000))
    small = (100).to_bytes(4, "little")
    lied = content.replace((1_000_000).to_bytes(4, "little"), small)
    opened = open_archive(lied, "x.zip")
    assert ("run.json" in opened.damaged, opened.files.get("run.json")) == (True, None)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"{}", write_archive(FILES)[:-120]])
def test_what_is_no_archive_is_refused(content: bytes):
    assert "this is no bundle" in _refused(content)
