"""What kolla-ansible asks a registry for, where Ansible cannot say it."""

from pathlib import Path

import pytest

from nfvbed.cloud.box.images import asked
from nfvbed.errors import PrerequisiteError
from nfvbed.patience import VARIABLE


@pytest.fixture(name="kolla")
def _kolla(tmp_path: Path) -> Path:
    """An environment of kolla-ansible whose Ansible does not end."""
    data = tmp_path / "share" / "kolla-ansible" / "ansible"
    data.mkdir(parents=True)
    (data / "site.yml").write_text("[]\n")
    program = tmp_path / "bin" / "ansible-playbook"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    return tmp_path


def test_an_ansible_that_does_not_end_is_an_error_with_its_time(kolla: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(asked, "_RUN_S", 0.2)
    with pytest.raises(PrerequisiteError, match="not read in time") as caught:
        asked.asked(kolla, [{"enable_heat": True}])
    assert VARIABLE in caught.value.fix


def test_no_kolla_ansible_is_an_error_before_anything_runs(tmp_path: Path):
    with pytest.raises(PrerequisiteError, match="not there"):
        asked.asked(tmp_path, [{}])
