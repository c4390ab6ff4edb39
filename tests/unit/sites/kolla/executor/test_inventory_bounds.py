"""An inventory is held against bounds before Ansible has it, and its groups are gone through once."""

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla.executor import inventories


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("deep.yml", "all: " + "{a: " * 100, "nests too deeply"),
        ("laughs.yaml", "a: &a [x]\nb: [" + "*a, " * 101 + "]", "100 are read"),
    ],
)
def test_yaml_past_the_bounds_is_refused_before_ansible_has_it(tmp_path, name, text, said):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        inventories.checked(tmp_path / name, site=None, tools=None)
    assert said in caught.value.observed


def test_groups_below_many_others_are_gone_through_once():
    listed = {f"g{number}": {"children": [f"g{number + 1}", f"g{number + 1}"]} for number in range(60)}
    listed["g60"] = {"hosts": ["one"]}
    assert inventories._members(listed)["g0"] == ["one"]
