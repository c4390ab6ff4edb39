"""The page's templates: they escape, they decide nothing, they are strict, and they are shipped."""

from pathlib import Path

import pytest
from jinja2 import Environment, UndefinedError, nodes

from nfvbed.compare.comparison import compare
from nfvbed.report.context import ReportContext
from nfvbed.report.page.page import UnindentExtension, render
from nfvbed.report.page.sections import page_values
from tests.sample_records import build

PAGE = Path("nfvbed/report/page")
LOGIC = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Assign, nodes.CondExpr)


def templates(root: Path) -> dict[str, nodes.Template]:
    environment = Environment()
    return {path.name: environment.parse(path.read_text()) for path in (root / PAGE / "templates").iterdir()}


def test_text_is_taken_as_it_is_in_the_base_alone(root: Path):
    for name, tree in templates(root).items():
        filters = {found.name for found in tree.find_all(nodes.Filter)}
        assert filters <= ({"safe"} if name == "base.html.j2" else {"length"}), name
        assert not list(tree.find_all((nodes.ScopedEvalContextModifier, nodes.MarkSafe))), name


def test_templates_compute_nothing(root: Path):
    assert {name for name, tree in templates(root).items() if list(tree.find_all(LOGIC))} == set()


def test_a_value_that_is_not_there_is_an_error():
    with pytest.raises(UndefinedError):
        render("scope", values=object())


def test_text_is_escaped():
    notes = {"own_loads": False, "virtual_ports": False, "notes": ["<b>'&"]}
    assert "<li>&lt;b&gt;&#39;&amp;</li>" in render("scope", values=notes)


def test_line_ends_of_a_template_are_gaps_between_words_alone():
    environment = Environment(extensions=[UnindentExtension])
    text = "<p>\n  one\n  two {{ x }} three\n  <b>four</b>\n  {{ x }}\n</p>\n"
    assert environment.from_string(text).render(x=1) == "<p>one two 1 three<b>four</b>1</p>"


def test_every_section_has_a_template(root: Path):
    data = build()
    sections = page_values(ReportContext(compare([data]), (data.run,)), {}).sections
    assert {f"{section.key}.html.j2" for section in sections} <= set(templates(root))
