"""What a user names is looked at before it is opened, and counted while it is read."""

import io
import os
import socket
from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError, NfvbedError
from nfvbed.spec.textfile import kind_of, read_beginning, read_bytes, read_stream, read_text, require_file
from nfvbed.spec.validate import nearest


def refused(call, *arguments, **keywords):
    with pytest.raises(ConfigurationError) as caught:
        call(*arguments, **keywords)
    return caught.value


def test_a_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_bytes(path, most=100) == b"x" * 100
    assert read_beginning(path, 3) == b"xxx"
    assert read_stream(io.BytesIO(b"y" * 9), "standard input", most=9) == b"y" * 9
    assert refused(read_bytes, path, most=99).observed == "more than 99 bytes"
    assert refused(read_stream, io.BytesIO(b"y" * 9), "standard input", most=8).where == "standard input"


def test_what_is_no_file_is_named(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    listening = socket.socket(socket.AF_UNIX)
    listening.bind("socket")
    listening.close()
    assert refused(read_text, tmp_path).observed == "it is a folder"
    assert refused(read_text, tmp_path / "socket").observed == "it is a socket"
    assert refused(read_text, Path("/dev/zero")).observed == "it is a device"
    assert refused(require_file, tmp_path / "pipe").observed == "it is a pipe"
    assert refused(read_text, tmp_path / "none").observed == "No such file or directory"
    assert refused(read_text, tmp_path / "a\0b").observed
    assert (kind_of(tmp_path), kind_of(tmp_path / "none"), kind_of(Path(__file__))) == ("it is a folder", "", "")


def test_a_size_that_the_kernel_does_not_know_is_counted():
    assert Path("/proc/self/maps").stat().st_size == 0
    assert read_text(Path("/proc/self/maps"))
    assert refused(read_text, Path("/proc/self/maps"), most=10).observed == "more than 10 bytes"


def test_what_is_too_long_for_a_name_is_compared_with_none():
    assert nearest("linux-brigde", ["linux-bridge"]) == "linux-bridge"
    assert nearest("linux-bridge" * 100, ["linux-bridge"]) is None


def test_a_message_repeats_no_more_than_a_reader_takes():
    shown = str(NfvbedError("what", observed="o" * 10_000_000))
    assert len(shown) < 5000
    assert shown.endswith("... (10000000 characters)")
