"""A path goes to the controller and comes back the same."""

import pytest

from nfvbed.dataplanes.ovs.steering.path import SteeringPath, SwitchCable
from nfvbed.dataplanes.ovs.steering.path_file import read_path, write_path
from nfvbed.errors import ConfigurationError


def test_path_comes_back(tmp_path):
    path = SteeringPath({"p0": 1, "p1": 2, "v0p0": 3}, (SwitchCable("p0", "v0p0"), SwitchCable("p0", "p1", (1, 2))))
    write_path(tmp_path / "path.json", path)
    assert read_path(tmp_path / "path.json") == path


@pytest.mark.parametrize("text", ["", "[]", '{"format": "nfvbed-path/2", "ports": {}, "cables": []}'])
def test_what_is_no_path(tmp_path, text):
    (tmp_path / "path.json").write_text(text)
    with pytest.raises(ConfigurationError, match="no path"):
        read_path(tmp_path / "path.json")


def test_missing_file(tmp_path):
    with pytest.raises(ConfigurationError, match="no path"):
        read_path(tmp_path / "none.json")
