"""Finding the native programs."""

import pytest

from nfvbed.errors import PrerequisiteError
from nfvbed.host.native import native_binary


def test_not_built(tmp_path, monkeypatch):
    monkeypatch.delenv("NFVBED_NATIVE_DIR", raising=False)
    with pytest.raises(PrerequisiteError, match="nfvgen is not built") as caught:
        native_binary("nfvgen", tmp_path)
    assert caught.value.fix == "make build"


def test_override(tmp_path, monkeypatch):
    program = tmp_path / "exec" / "nfvbed-exec"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("NFVBED_NATIVE_DIR", str(tmp_path))
    assert native_binary("nfvbed-exec") == program
