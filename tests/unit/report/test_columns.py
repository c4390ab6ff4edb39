"""Columns of a terminal: what does not fit goes as a whole, and no word is broken."""

from nfvbed.report.terminal.columns import Banner, Cell, Column, Row, cut, lay_out, paragraph

COLUMNS = (Column("name"), Column("rate", right=True), Column("extra", dropped=2), Column("more", dropped=1))


def lines(width: int, *rows: Row | Banner) -> list[str]:
    return [text.plain for text in lay_out(COLUMNS, rows, width)]


def row(*texts: str) -> Row:
    return Row(tuple(Cell(text) for text in texts))


def test_all_columns_are_shown_where_they_fit() -> None:
    assert lines(80, row("bridge", "1", "a", "b")) == [
        "  name    rate  extra  more",
        "  bridge     1  a      b",
    ]


def test_columns_go_in_their_order_and_names_stay_whole() -> None:
    assert lines(24, row("linux-bridge", "1.08", "a", "b")) == ["  name          rate", "  linux-bridge  1.08"]
    assert lines(5, row("linux-bridge", "1.08", "a", "b"))[1] == "  linux-bridge  1.08"


def test_a_column_without_text_is_left_out() -> None:
    assert lines(80, row("bridge", "1", "", "b"))[0] == "  name    rate  more"


def test_a_line_over_all_columns_is_cut_between_words() -> None:
    assert lines(20, Banner("failed: the switch ended early"))[1] == "failed: the switch …"


def test_a_text_is_cut_between_words_or_not_at_all() -> None:
    assert cut("one two three", 9) == "one two …"
    assert cut("onlyoneword", 4) == "onlyoneword"
    assert cut("short", 80) == "short"


def test_a_paragraph_breaks_neither_words_nor_hyphens() -> None:
    assert paragraph("ovs-afxdp-interrupt is ahead", 12, "  ") == ["ovs-afxdp-interrupt", "  is ahead"]
