"""What a bundle tells of whose machines these are: listed before it is given away, and in it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from nfvbed.bundle.redaction import Identifiers
from nfvbed.characters import shown
from nfvbed.store.transfer import RunDocument

_SHOWN: Final = 6
"""Values of a sort that the list has; the number says how many there are."""
_ALWAYS: Final = (
    "when it was measured, to the millisecond, and how long each step took",
    "versions of the kernel, the data planes, the generator and nfvbed",
    "the resolved experiment, site, variants and VNFs, with file paths and PCI addresses in them",
    "every trial: frames, rates, latency histograms, CPU times, counters of the switch",
)


def disclosure(document: RunDocument, found: Identifiers, *, redacted: bool) -> list[str]:
    """Return the lines that say what a bundle of a run discloses, the names in it first.

    Args:
        redacted: whether the bundle has other words in place of what was found.
    """
    return [
        *(_replaced(found) if redacted else _named(found)),
        *(_people(document, redacted=redacted)),
        f"- the machine: {_machine(document)}",
        *(f"- {line}" for line in _ALWAYS),
        "",
        "Names in free text are found where a key says elsewhere that they are names, or where you named them"
        " (--word). What is in run.json is what is given: read it before you give it to others.",
    ]


def _named(found: Identifiers) -> list[str]:
    lines = [f"- {sort.value}: {len(values)}: {_some_of(values)}" for sort, values in found.values.items() if values]
    nothing = ["- no host names, addresses, serials or names of projects were found"]
    return ["Disclosed (nothing was replaced; --redact does):", *(lines or nothing)]


def _some_of(values: Sequence[str]) -> str:
    return ", ".join(map(shown, values[:_SHOWN])) + (", ..." if len(values) > _SHOWN else "")


def _replaced(found: Identifiers) -> list[str]:
    lines = [f"- replaced: {sort.value}: {len(values)}" for sort, values in found.values.items() if values]
    kept = [
        f"- {name!r} is a word of nfvbed's too, or short: replaced where a key says whose name it is, not in texts"
        for name in map(shown, found.ambiguous)
    ]
    return ["Disclosed (names were replaced):", *(lines or ["- nothing to replace was found"]), *kept]


def _people(document: RunDocument, *, redacted: bool) -> list[str]:
    count = len(document.annotations) + len(document.acknowledgements)
    if not count:
        return []
    return [f"- labels, notes and remarks of people: {count}{', left out' if redacted else ', with who wrote them'}"]


def _machine(document: RunDocument) -> str:
    blob = document.blobs.get(document.run.host_hash)
    host: Mapping[str, Any] = blob.value if blob and isinstance(blob.value, dict) else {}
    cpu = host.get("cpu")
    model = cpu.get("model name") if isinstance(cpu, dict) else None
    parts = (f"CPU {model}" if model else "", f"kernel {host['kernel']}" if "kernel" in host else "")
    named = ", ".join(shown(str(part)) for part in parts if part)
    return f"{named or 'as its description has it'}; its memory, firmware's microcode, mitigations and NICs' models"
