"""What is ours is known again, and what only looks alike is not."""

import pytest

from nfvbed.cloud.tacker.tags import Tag, digest_of, is_name_of
from nfvbed.errors import UsageError

TAG = Tag("sol", "demo", "vloop", "abc", (("CP1", "data0"), ("CP2", "data1")))


def test_a_tag_is_read_back():
    assert Tag.read(TAG.text) == TAG


@pytest.mark.parametrize("text", [None, "", "made by nfvbed devcloud", "made by nfvbed: {", "made by nfvbed: {}", "x"])
def test_other_descriptions_are_not_ours(text):
    assert Tag.read(text) is None


@pytest.mark.parametrize("word", ["", "A", "a b", "a_b", "-a", "a" * 64, "a/b"])
def test_names_that_would_be_ambiguous_are_refused(word):
    with pytest.raises(UsageError, match="of a VNF"):
        Tag("sol", word, "vloop", "")
    with pytest.raises(UsageError, match="of a VNF"):
        Tag("sol", "demo", word, "")


def test_each_attempt_has_a_name_of_its_own_that_is_known_again():
    one, other = TAG.unique(), TAG.unique()
    assert one != other
    assert is_name_of("demo", one)
    assert is_name_of("demo", f"{one}_0bbb980d-5779-416b-8134-9977b1b16e2d")
    assert is_name_of("demo", f"{one}_0bbb980d-5779-416b-8134-9977b1b16e2d-RESPAWN-2")


@pytest.mark.parametrize(
    "name",
    [
        "nfvbed-demo_vloop",
        "nfvbed-demo_vloop-abcdeg",
        "nfvbed-demo-vloop-abcdef",
        "nfvbed-demo2_vloop-abcdef",
        "my-nfvbed-demo_vloop-abcdef",
        "nfvbed-demo_vloop-abcdef-nested",
    ],
)
def test_names_that_are_similar_are_not_ours(name):
    assert not is_name_of("demo", name)


def test_a_descriptor_has_one_digest_however_its_keys_are_ordered():
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1}) != digest_of({"a": 1})
    assert digest_of(b"x") != digest_of(b"y")


def test_the_same_vnf_of_another_descriptor():
    assert TAG.same_vnf(Tag("sol", "demo", "vloop", "other"))
    assert not TAG.same_vnf(Tag("legacy", "demo", "vloop", "abc"))
    assert not TAG.same_vnf(None)
