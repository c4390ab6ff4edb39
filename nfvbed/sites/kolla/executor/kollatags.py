"""Kolla's tags, by which its commands are limited to some services: Ansible does nothing, and well, for any other."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nfvbed.errors import UsageError
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.spec import boundedyaml
from nfvbed.spec.textfile import read_text
from nfvbed.spec.validate import suggestion

_PLAYBOOK = Path("ansible") / "site.yml"
_SPECIAL = ("always", "never")
"""Ansible's own."""


def require(tags: Sequence[str], tools: Toolset) -> None:
    """Make sure that kolla-ansible has services of these tags.

    Raises:
        UsageError: it has none of one of them.
    """
    if not tags:
        return
    known = set(_in_playbook(tools.share / _PLAYBOOK)) - set(_SPECIAL)
    for tag in tags:
        if tag not in known:
            raise UsageError(
                f"Kolla has no services of tag {tag}",
                where=str(tools.share / _PLAYBOOK),
                observed=f"--tags {','.join(tags)}",
                fix=suggestion(tag, sorted(known)) or "one of them, or several with commas",
            )


def _in_playbook(path: Path) -> Iterator[str]:
    for play in boundedyaml.load(read_text(path)):
        yield from _below(play)
        if "import_playbook" in play:
            yield from _in_playbook(path.parent / play["import_playbook"])


def _below(found: Any) -> Iterator[str]:
    """Yield the tags of a play, of its roles and of its tasks."""
    if isinstance(found, list):
        for one in found:
            yield from _below(one)
    elif isinstance(found, dict):
        named = found.get("tags", ())
        yield from named.split(",") if isinstance(named, str) else named
        for value in found.values():
            yield from _below(value)
