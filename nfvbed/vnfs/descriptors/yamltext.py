"""Descriptors as text."""

from collections.abc import Mapping
from typing import Any

import yaml

_WIDTH = 120


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    """Writes no aliases: equal parts are written out, as people write them."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def dump(document: Mapping[str, Any]) -> str:
    """Return a document as YAML, its keys in their order."""
    text: str = yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)
    return text
