"""Writes the commands' manual page, nfvbed(1), in the macros of man(7).

click-man finds no verb that is loaded when it is called, and escapes nothing of what groff takes for its own words.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import click

NOTE: Final = '.\\" Written by `make reference`; edit the code instead.'
FILES: Final = (
    ("results/nfvbed.sqlite", "Results: below the checkout, or in the current folder where there is none."),
    ("deploy, vnfd, flavors, vsperf-conf", "Variants, sites, VNFs and experiments: of the checkout, or as installed."),
)
_ESCAPES: Final = str.maketrans({"\\": "\\e", "-": "\\-", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"})
"""Characters that stand for others in groff."""
ENVIRONMENT: Final = (
    ("NFVBED_ROOT", "Folder of nfvbed's data, as --root."),
    ("NFVBED_STORE", "Results, as --store."),
)


def manual(
    version: str, group: click.Group, verbs: Mapping[str, click.Command], codes: Sequence[tuple[str, str]]
) -> str:
    """Return the page.

    Args:
        version: of nfvbed.
        group: the options of all verbs.
        verbs: by name, `devcloud start` among them.
        codes: exit codes with what they mean.
    """
    lines = [NOTE, f'.TH NFVBED 1 "" "nfvbed {_text(version)}" "User commands"']
    lines += [".SH NAME", f"nfvbed \\- {_text(_lower(group.help))}"]
    lines += [".SH SYNOPSIS", ".B nfvbed", f"{_text('[OPTIONS] VERB ...')}"]
    lines += [".SH OPTIONS", "Before the verb.", *_options(group)]
    lines.append(".SH VERBS")
    for name, command in verbs.items():
        usage = " ".join(command.collect_usage_pieces(click.Context(command, info_name=name)))
        lines += [f".SS nfvbed {_text(f'{name} {usage}'.rstrip())}", *_prose(command.help), *_options(command)]
    lines += [".SH EXIT STATUS", *_terms(codes), ".SH ENVIRONMENT", *_terms(ENVIRONMENT), ".SH FILES", *_terms(FILES)]
    return "\n".join(lines) + "\n"


def _options(command: click.Command) -> list[str]:
    options = [one for one in command.params if isinstance(one, click.Option)]
    records = filter(None, (one.get_help_record(click.Context(command)) for one in options))
    return _terms(records)


def _terms(records: Iterable[tuple[str, str]]) -> list[str]:
    return [line for term, text in records for line in (".TP", f"\\fB{_text(term)}\\fR", _text(text))]


def _prose(text: str | None) -> list[str]:
    """Return paragraphs; one that begins with click's mark stays as it is typed."""
    lines: list[str] = []
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            lines += [".PP", ".nf", *map(_text, paragraph.removeprefix("\b\n").split("\n")), ".fi"]
        else:
            lines += [".PP", _text(" ".join(paragraph.split()))]
    return lines


def _text(text: str) -> str:
    """Return one line of which groff takes nothing for its own words."""
    escaped = text.replace("\n", " ").translate(_ESCAPES)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _lower(text: str | None) -> str:
    words = inspect.cleandoc(text or "").split("\n")[0].rstrip(".")
    return words[:1].lower() + words[1:]
