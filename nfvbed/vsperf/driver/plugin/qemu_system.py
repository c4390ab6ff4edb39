"""QEMU as VSPERF starts it, on a host where another accelerator boots guests than the one that VSPERF asks for.

VSPERF writes `--enable-kvm` and `-cpu host` for every guest. It finds this program in QEMU's place (`TOOLS`), which
changes these words alone and becomes QEMU. The monitor, which VSPERF puts into /tmp, is in the run's folder. Usage:
qemu_system.py RULES ARGUMENT..., where RULES is JSON with `program`, `environment`, `replaced` (what stands
for a word), `cpu` (for VSPERF's own, where it is not empty), `folder` and `more` (what comes last). Like the other
plug-ins it uses nothing but Python's library.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

CPU, MONITOR = "-cpu", "-monitor"


def translated(words: Sequence[str], rules: Mapping[str, Any]) -> Iterator[str]:
    """Yield QEMU's arguments."""
    before = ""
    for word in words:
        if before == CPU and rules["cpu"]:
            yield rules["cpu"]
        elif before == MONITOR:
            yield word.replace("unix:/tmp/", f"unix:{rules['folder']}/")
        else:
            yield from rules["replaced"].get(word, [word])
        before = word
    yield from rules["more"]


def main(words: Sequence[str]) -> None:
    """Become QEMU."""
    rules = json.loads(words[0])
    argv = [rules["program"], *translated(words[1:], rules)]
    os.execve(argv[0], argv, {**os.environ, **rules["environment"]})


if __name__ == "__main__":
    main(sys.argv[1:])
