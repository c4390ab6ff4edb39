"""YAML within the bounds is what PyYAML makes of it; what passes them is refused, and costs no more than they say."""

import gc

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from nfvbed.spec import boundedyaml

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.dates(),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"))),
)
KEYS = st.one_of(st.integers(), st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=20))
SHARED = st.one_of(SCALARS, st.lists(SCALARS, max_size=4))


@st.composite
def documents(draw):
    """Return data in which lists are shared, so that their YAML has anchors and aliases."""
    shared = draw(st.lists(SHARED, min_size=1, max_size=4))
    leaves = st.one_of(SCALARS, st.sampled_from(shared))
    inner = st.recursive(
        leaves, lambda one: st.one_of(st.lists(one, max_size=5), st.dictionaries(KEYS, one, max_size=5)), max_leaves=30
    )
    return draw(inner)


@settings(max_examples=40)
@given(documents(), st.booleans())
def test_what_is_within_the_bounds_is_read_as_pyyaml_reads_it(data, flow):
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True)
    assert boundedyaml.load(text) == yaml.safe_load(text)


@given(st.integers(1, 80), st.sampled_from(("[]", "{}")))
def test_depth_is_read_up_to_the_bound(depth, kind):
    opened, inner, closed = {"[]": ("[", "[]", "]"), "{}": ("{a: ", "{}", "}")}[kind]
    text = opened * (depth - 1) + inner + closed * (depth - 1)
    if depth <= boundedyaml.MOST_DEPTH:
        assert boundedyaml.load(text) == yaml.safe_load(text)
    else:
        with pytest.raises(boundedyaml.BoundsExceeded, match="64 levels"):
            boundedyaml.load(text)


@given(st.integers(1, 12), st.integers(1, 12))
def test_aliases_count_what_they_unfold_into(levels, each):
    lines = ["- &a0 [x]"] + [f"- &a{n} [{', '.join([f'*a{n - 1}'] * each)}]" for n in range(1, levels + 1)]
    text = "\n".join(lines)
    values, total = 2, 4
    for _ in range(levels):
        values = 1 + each * values
        total += values
    if levels * each <= boundedyaml.MOST_ALIASES and total < boundedyaml.MOST_NODES:
        assert boundedyaml.load(text) == yaml.safe_load(text)
    elif levels * each > boundedyaml.MOST_ALIASES or total > boundedyaml.MOST_NODES + 10:
        with pytest.raises(boundedyaml.BoundsExceeded):
            boundedyaml.load(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * 10_000_001, "10000001 characters"),
        ("[" * 65, "nests too deeply"),
        ("&a [*a]", "holds itself"),
        ("- &a x\n" + "- *a\n" * 101, "100 are read"),
        ("[" + "1," * 100_000 + "]", "holds too much"),
        (f"- &a {'x' * 130_000}\n" + "- *a\n" * 99 + "- " + "y" * 9_000_000, "holds too much"),
        ("9" * 401, "a number of 401 digits"),
        ("1" + ":1" * 300, "a number of 601 digits"),
    ],
    ids=["long", "deep", "itself", "aliases", "values", "shared text", "digits", "base 60"],
)
def test_what_passes_a_bound_is_refused(text, said):
    with pytest.raises(yaml.YAMLError) as caught:
        boundedyaml.load(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["!!bool perhaps", "!!int ''", "!!timestamp x", "2001-13-45", "!!float x", "!!binary 'é'", "!!set [a]", "'\ud800'"],
)
def test_a_tag_that_does_not_fit_is_an_error_of_yaml(text):
    with pytest.raises(yaml.YAMLError):
        boundedyaml.load(text)


def test_a_short_text_is_explained_by_what_was_seen_and_a_long_one_by_what_was_not():
    said = {}
    for lines in (1, boundedyaml.MOST_EXPLAINED):
        text = "a: 1\n" + "#\n" * lines + "- [\n"
        with pytest.raises(yaml.YAMLError) as caught:
            boundedyaml.load(text)
        said[lines] = boundedyaml.explained(text, caught.value)
    assert "but found '-'" in str(said[1])
    assert "did not find expected key" in str(said[boundedyaml.MOST_EXPLAINED])


def test_nothing_of_a_refused_text_stays():
    gc.collect()
    before = len(gc.get_objects())
    with pytest.raises(yaml.YAMLError):
        boundedyaml.load("[" + "[]," * 200_000 + "]")
    gc.collect()
    assert len(gc.get_objects()) - before < 10_000
