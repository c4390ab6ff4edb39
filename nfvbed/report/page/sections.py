"""What a page shows, as plain values: nothing here knows how it is written."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfvbed.compare.comparison import Comparison
from nfvbed.report.answer import answer
from nfvbed.report.context import ReportContext
from nfvbed.report.figures.theme import Drawing
from nfvbed.report.page.comparison import Grouping, comparison_grid
from nfvbed.report.page.environment import environment
from nfvbed.report.page.head import FirstScreen, Header, first_screen, page_header
from nfvbed.report.page.method import method, scope
from nfvbed.report.page.states import below_the_table
from nfvbed.report.page.successive import successive_section
from nfvbed.report.page.survey import survey_grid
from nfvbed.report.page.tests import tests_section
from nfvbed.report.page.verdicts import verdict_section
from nfvbed.report.page.warnings import warnings_section


@dataclass(frozen=True)
class Figure:
    """The text of a figure; its specification is in the page's data."""

    name: str
    title: str
    description: str
    caption: str
    simulated: bool


@dataclass(frozen=True)
class Section:
    """A part of the page; its template has the name of its key."""

    key: str
    title: str
    values: object


@dataclass(frozen=True)
class PageValues:
    """All of a page but its style, its scripts and the figures' data."""

    title: str
    header: Header
    first: FirstScreen
    sections: tuple[Section, ...]
    format: int


def page_values(context: ReportContext, drawn: Mapping[str, Drawing], by: Grouping = Grouping.POINT) -> PageValues:
    """Return what the page of a comparison shows; a section that has nothing to show is left out.

    Args:
        by: what the rows of its first table are grouped by; many variants are ordered by traffic point alone.
    """
    comparison = context.comparison
    said = answer(comparison)
    header = page_header(context)
    sections = (
        Section("successive", "Step by step", successive_section(context)),
        *_results(comparison, by),
        Section("figures", "Figures", tuple(figure_text(name, drawing) for name, drawing in drawn.items())),
        Section("reading", "How to read this", ()),
        Section("warnings", "Limits and warnings", warnings_section(comparison)),
        Section("environment", "Environment", environment(context)),
        Section("method", "Method", method(comparison)),
        Section("scope", "What this does not show", scope(comparison)),
    )
    return PageValues(
        title=f"{header.mark}{': ' if header.mark else ''}{header.title}: {said.headline}",
        header=header,
        first=first_screen(comparison, said),
        sections=tuple(section for section in sections if section.values is not None),
        format=comparison.format,
    )


def _results(comparison: Comparison, by: Grouping) -> tuple[Section, ...]:
    """Return tables and tests; where no maximum rate was measured, the tests come first and the table has the rest."""
    below, tests = below_the_table(comparison), tests_section(comparison)
    verdicts = Section("verdicts", "What the verdicts rest on", verdict_section(comparison))
    if not any(row.mrr is not None for row in comparison.rows):
        rest = survey_grid(comparison, below)
        return (
            Section("tests", "Results", tests),
            Section("table", "Not measured", rest if rest.tables else None),
            verdicts,
        )
    ordered = comparison.many and by is Grouping.POINT
    grid = survey_grid(comparison, below) if ordered else comparison_grid(comparison, below, by)
    title = "Throughput, missing frames and latency by load"
    return Section("table", "Table", grid), verdicts, Section("tests", title, tests)


def figure_text(name: str, drawing: Drawing) -> Figure:
    """Return what is written beside a figure."""
    title, description = f"{drawing.mark}{drawing.title}", f"{drawing.mark}{drawing.description}"
    return Figure(name, title, description, drawing.caption, drawing.simulated)
