"""A site's report for people: ten lines that answer, or all of it; both fit 80 columns."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nfvbed.cli.console import Console
from nfvbed.records import Readiness
from nfvbed.records.findings import Finding, SiteReport, State
from nfvbed.records.trial import Support

STATE_STYLES = {State.PRESENT: "green", State.LIMITED: "yellow", State.ABSENT: "red", State.UNKNOWN: "dim"}
READINESS_STYLES = {Readiness.READY: "green", Readiness.DEGRADED: "yellow", Readiness.UNSUPPORTED: "red"}
MOST_LINES = 10
"""Length of the summary: what a terminal shows at once, whatever is printed around it."""


def summary(report: SiteReport, width: int) -> list[Text]:
    """Return at most ten lines: what runs here, what is missing, and which changes let most variants run.

    Args:
        width: columns; longer lines are cut.
    """
    lines = [Text(report.title)]
    if report.variants:
        states = Counter(support.readiness for support in report.variants)
        told = ", ".join(f"{states[state]} {state.value}" for state in Readiness if states[state])
        lines.append(Text(f"{_counted(len(report.variants), 'variant')}: {told}"))
    for readiness in (Readiness.READY, Readiness.DEGRADED):
        names = [support.variant for support in report.variants if support.readiness is readiness]
        if names:
            lines.append(_named(readiness.value, names, width, READINESS_STYLES[readiness]))
    for state in (State.ABSENT, State.LIMITED):
        topics = [finding.topic for finding in report.findings if finding.state is state]
        if topics:
            lines.append(_named(state.value, topics, width, STATE_STYLES[state]))
    causes = _causes(report.variants)
    if causes:
        room = MOST_LINES - len(lines) - 2
        cut = f", {room} of {len(causes)} changes" if len(causes) > room else ""
        lines.append(Text(f"what would let more variants run{cut}:"))
        lines += [_cause(names, support) for (_, names, support) in causes[:room]]
    lines.append(Text("all of it: nfvbed doctor --details; of one variant: nfvbed doctor --variant NAME"))
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _named(what: str, names: Sequence[str], width: int, style: str) -> Text:
    """Return as many names as a line has room for, and how many there are beside them."""
    shown = len(names)
    while shown > 1 and len(_names(what, names, shown)) > width:
        shown -= 1
    text = Text(_names(what, names, shown))
    text.stylize(style, 0, len(what))
    return text


def _names(what: str, names: Sequence[str], shown: int) -> str:
    more = f", and {len(names) - shown} more" if shown < len(names) else ""
    return f"{what}: {', '.join(names[:shown])}{more}"


def _causes(supports: Iterable[Support]) -> list[tuple[int, list[str], Support]]:
    """Return what can be changed, with the variants that wait for it: first what most of them wait for."""
    found: dict[str, list[Support]] = {}
    for support in supports:
        if support.readiness is not Readiness.READY and support.fix:
            found.setdefault(support.fix, []).append(support)
    causes = [(len(of), [support.variant for support in of], of[0]) for of in found.values()]
    return sorted(causes, key=lambda cause: -cause[0])


def _cause(names: Sequence[str], support: Support) -> Text:
    who = names[0] if len(names) == 1 else f"{len(names)} variants"
    return Text.assemble(f"  {who}: {_first_line(support.fix)}", (f" ({_first_line(support.reason)})", "dim"))


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def findings_table(title: str, findings: Iterable[Finding]) -> Table:
    """Return findings as a table, in their order."""
    found = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("topic", "state", "observed (how it was found out)"):
        found.add_column(heading, overflow="fold", no_wrap=heading != "observed (how it was found out)")
    for finding in findings:
        observed = Text.assemble(finding.summary, (f" ({finding.probed})", "dim"))
        if finding.fix:
            observed.append(f"\nto change it: {finding.fix}", "italic")
        found.add_row(finding.topic, Text(finding.state, STATE_STYLES[finding.state]), observed)
    return found


def print_variants(console: Console, supports: Iterable[Support]) -> None:
    """Print each readiness with its variants, those of one reason together."""
    found: dict[tuple[Readiness, str, str], list[str]] = {}
    for support in supports:
        found.setdefault((support.readiness, support.reason, support.fix), []).append(support.variant)
    for readiness in Readiness:
        of = {key: names for key, names in found.items() if key[0] is readiness}
        if of:
            console.print(Text(readiness.value, READINESS_STYLES[readiness]))
        for (_, reason, fix), names in of.items():
            console.print(Padding(Text(", ".join(names), "bold"), (0, 0, 0, 2)))
            for text in (reason, f"to fix it: {fix}" if fix else ""):
                if text:
                    console.print(Padding(Text(text), (0, 0, 0, 6)))
