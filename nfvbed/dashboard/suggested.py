"""Commands that a page suggests, as the choice on the page Start that means the same: there the plan is looked at."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlencode

PLANNED: Final = ("plan", "1")
FIELDS: Final = {
    "--site": "site",
    "--variant": "variant",
    "--topology": "topology",
    "--purpose": "purpose",
    "--max-rounds": "rounds",
    "--budget": "budget",
    "--time-limit": "limit",
    "--set": "set",
}
"""Fields of that page by the options of `nfvbed run`."""
OWN_FIELDS: Final = {"purpose=compare": ("purpose", "compare"), "purpose=survey": ("purpose", "survey")}
"""Settings that have a field of their own."""
SIZE: Final = "--frame-size"


def start_address(command: str) -> str:
    """Return the address of the page Start with what a command says; empty: Start cannot say all of it.

    Args:
        command: as a shell takes it.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    match words:
        case ["nfvbed", "run", experiment, *options] if not experiment.startswith("-"):
            named = [("experiment", experiment)]
        case ["nfvbed", "deploy", variant, *options] if not variant.startswith("-"):
            named = [("variant", variant)]
        case ["nfvbed", "doctor", *options]:
            named = []
        case _:
            return ""
    fields = list(_fields(options))
    if None in fields:
        return ""
    sizes = [value for found in fields if found and found[0] == "sizes" for value in (found[1],)]
    others = [found for found in fields if found and found[0] != "sizes"]
    joined = [("sizes", " ".join(sizes))] if sizes else []
    return f"/start?{urlencode([*named, *others, *joined, PLANNED])}"


def _fields(options: Sequence[str]) -> Iterator[tuple[str, str] | None]:
    """Yield the fields that options mean; None for one that has none, or that lacks its value."""
    words = iter(options)
    for word in words:
        option, equals, value = word.partition("=")
        found = value if equals else next(words, None)
        if found is None:
            yield None
        elif option == SIZE:
            yield "sizes", found
        elif option == "--set" and found in OWN_FIELDS:
            yield OWN_FIELDS[found]
        elif option in FIELDS:
            yield FIELDS[option], found
        else:
            yield None
