"""Characters of names that others chose: shown as escapes, drawn as U+FFFD, found in documents."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfvbed.characters import drawable, shown, unfit, unfit_in

ANY = st.text(st.characters(codec=None, categories=None))
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb", r"a\u001b[31mb"),
        ("\x00\x07\x7f\x9b", r"\u0000\u0007\u007f\u009b"),
        ("\u202etxt\u2066", r"\u202etxt\u2066"),
        ("\ud800", r"\ud800"),
        ("back\rover", r"back\u000dover"),
        ("lines\nand\ttabs\r\n", "lines\nand\ttabs\r\n"),
        ("Grüße, 速度 😀 \\u001b", "Grüße, 速度 😀 \\u001b"),
    ],
    ids=["escape", "controls", "bidi", "half", "return", "spaces", "plain"],
)
def test_texts_are_shown_without_control(text: str, expected: str):
    assert shown(text) == expected


@given(ANY)
def test_nothing_that_is_shown_controls_a_terminal(text: str):
    assert not CONTROL.search(shown(text))
    shown(text).encode()


@given(st.recursive(ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner), max_leaves=8))
def test_escapes_are_what_json_has(value: object):
    """A document that passes through the output says the same."""
    written = json.dumps(value, ensure_ascii=False)
    assert json.loads(shown(written)) == json.loads(written)


@given(ANY)
def test_whatever_is_drawn_is_in_xml(text: str):
    drawn = drawable({"title": [text], text: (text, 1, None, True)})
    assert not NOT_IN_XML.search("".join(drawn) + "".join(drawn["title"]))
    assert len(drawn["title"][0]) == len(text)


def test_names_may_have_no_space_but_blanks():
    assert unfit("two words\n") == ""
    assert unfit("two\nwords", spaces=False) == r"\u000a"
    assert unfit("a\x1bb\n", spaces=False) == r"\u001b"
    assert unfit("ovs-dpdk + größer", spaces=False) == ""


def test_places_in_a_document_are_found():
    document = {"a": [{"b": "fine"}, {"b": "b\x07"}], "c\x1b": 1, "d": ("\ufffe",)}
    assert list(unfit_in(document)) == [
        (("a", 1, "b"), r"\u0007"),
        ((r"c\u001b",), r"\u001b"),
        (("d", 0), r"\ufffe"),
    ]
