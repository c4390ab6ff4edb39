"""The chain of a number on a page: trials, what became of them, visits, limits, verdict, lost frames."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nfvbed.compare.explain import ExplainedTrial, Explanation, TrialUse
from nfvbed.compare.lostframes import LostFrames
from nfvbed.report import explanation, wording
from nfvbed.report.figures.theme import Drawing
from nfvbed.report.figures.trials import trials_figure
from nfvbed.report.page.values import Cell, Table
from nfvbed.report.searchlines import HEADINGS, SearchLine, conformity_of, exclusions_of, search_lines


@dataclass(frozen=True)
class TextSection:
    """Sentences below a heading."""

    heading: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class WhyPage:
    """The page that shows what a row rests on."""

    title: str
    headline: str
    said: tuple[TextSection, ...]
    searches: tuple[TextSection, ...]
    """What its searches leave out, and which documents they conform to."""
    tables: tuple[Table, ...]


def why(found: Explanation, lost: Sequence[LostFrames]) -> WhyPage:
    """Return what the page shows of a row."""
    said = (
        TextSection("Rate", tuple(explanation.rate_sentences(found))),
        TextSection("Verdict", tuple(explanation.judged_sentences(found))),
        TextSection("Limits", tuple(explanation.limit_sentences(found))),
        TextSection("Warnings", tuple(explanation.warning_sentences(found))),
        TextSection("Notes", found.notes),
    )
    searches = (
        TextSection("What its searches leave out", exclusions_of(found.searches, found.row.cell)),
        TextSection("Conformance of its searches", conformity_of(found.searches, found.row.cell)),
    )
    return WhyPage(
        title=explanation.title(found),
        headline=explanation.headline(found),
        said=tuple(part for part in said if part.sentences),
        searches=tuple(part for part in searches if part.sentences),
        # Where nothing was measured, tables without rows or of zeros would say that something was.
        tables=(*_visits(found), *_searches(found), *((_trials(found.trials), _lost(lost)) if found.trials else ())),
    )


def figures_of_row(found: Explanation) -> Mapping[str, Drawing]:
    """Return the figures of a row, by name."""
    drawn = trials_figure(found)
    return {"trials": drawn} if drawn else {}


def _searches(found: Explanation) -> tuple[Table, ...]:
    lines = search_lines(found.searches, found.row.cell)
    if not lines:
        return ()
    rows = tuple(tuple(_search_cells(line)) for line in lines)
    return (Table("Throughput searches, a line for each goal.", SEARCH_HEADINGS, rows),)


def _search_cells(line: SearchLine) -> Sequence[Cell]:
    *texts, used, why = line.texts
    tone = "" if line.used else "warning"
    named, numbers = texts[:NAMING], texts[NAMING:]
    return (*map(Cell, named), *(Cell(text, "n") for text in numbers), Cell(used, tone=tone), Cell(why))


def _visits(found: Explanation) -> tuple[Table, ...]:
    if found.row.mrr is None:
        return ()
    pairs = {pair.round: pair for pair in found.difference.pairs} if found.difference else {}
    # What nothing is judged against here, as a baseline, has no pairs of its own.
    headings = VISITS + PAIRS if pairs else VISITS
    rows = [
        (
            str(visit.round),
            str(visit.trials),
            wording.mpps(visit.rate_pps),
            *(explanation.pair_texts(pairs.get(visit.round)) if pairs else ()),
        )
        for visit in found.row.mrr.visits
    ]
    return (_table("Visits, one a round.", headings, rows, numbers=NUMBERS_OF_VISITS),)


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: Container[str]) -> Table:
    """Return a table of texts; those below the headings named are numbers, and aligned to the right, as these are."""
    kinds = ["n" if heading in numbers else "" for heading in headings]
    cells = tuple(tuple(map(Cell, row, kinds)) for row in rows)
    return Table(title, tuple(map(Cell, headings, kinds)), cells)


NAMING = 4
"""Columns of searches before those of numbers."""
SEARCH_HEADINGS = tuple(
    Cell(name, "n" if NAMING <= place < len(HEADINGS) - 2 else "") for place, name in enumerate(HEADINGS)
)
VISITS = ("Round", "Trials", "Mpps")
PAIRS = ("Ratio", "Matched in")
NUMBERS_OF_VISITS = ("Trials", "Mpps", "Ratio")
NUMBERS_OF_TRIALS = ("Round", "Mpps", "Core distance before, after, ns", "Stolen")
TRIALS = (
    "Trial",
    "Round",
    "Load",
    "Mpps",
    "Class",
    "Core distance before, after, ns",
    "Stolen",
    "Used",
    "Why",
    "Warnings",
)


def _trials(trials: Sequence[ExplainedTrial]) -> Table:
    rows = tuple(tuple(_trial(trial)) for trial in trials)
    headings = tuple(Cell(name, "n" if name in NUMBERS_OF_TRIALS else "") for name in TRIALS)
    return Table("Trials, in the order in which they were measured.", headings, rows)


def _trial(trial: ExplainedTrial) -> Sequence[Cell]:
    used = trial.use is not TrialUse.UNUSED
    return (
        Cell(str(trial.sequence)),
        Cell(str(trial.round), "n"),
        Cell(explanation.load_of(trial)),
        Cell(wording.mpps(trial.forwarded_rate_pps), "n"),
        Cell(trial.placement),
        Cell(explanation.distance_of(trial), "n"),
        Cell(explanation.stolen_of(trial), "n"),
        Cell("yes" if used else "no", tone="" if used else "warning"),
        Cell(trial.why),
        Cell(", ".join(kind.value for kind in trial.warnings) or wording.NOTHING),
    )


def _lost(lost: Sequence[LostFrames]) -> Table:
    rows = [(entry.place, f"{entry.frames:,}", entry.meaning) for entry in lost]
    return _table("Frames of all its trials, by place.", ("Place", "Frames", "Meaning"), rows, numbers=("Frames",))
