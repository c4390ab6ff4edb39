"""Maps VSPERF's load beside a test to a noisy neighbour."""

from collections import Counter
from dataclasses import replace
from typing import Any, Final

from nfvbed.spec.neighbour import MAX_RESERVED
from nfvbed.vsperf.conf.draft import Draft, number, whole
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings
from nfvbed.vsperf.conf.testcase import TestCase

KEYWORD: Final = "Load"
_NONE: Final = "DummyLoadGen"
_STRESS: Final = ("Stress", "StressNg")
_KIND_OF: Final = {"c": "cpu", "i": "io", "m": "memory"}
_KEYS: Final = frozenset(("load", "reserved", "pattern", "load_memory", "tool"))
_TOOLS: Final = {"dummy": _NONE, "stress": "Stress", "stress-ng": "StressNg"}
"""Value of the key `tool`, with which releases before danube name the load generator."""


def map_load(draft: Draft, settings: TestSettings, case: TestCase) -> None:
    """Map the keyword `Load`, which VSPERF heeds with a load generator alone."""
    wanted = SettingValue(KEYWORD, case.keywords.get(KEYWORD), case.place_of(KEYWORD))
    tool = wanted.at("tool")
    generator = settings.require("LOADGEN") if tool.value is None else replace(tool, value=_TOOLS.get(tool.value))
    if generator.value not in (_NONE, *_STRESS):
        draft.lacks("the load beside a test is a stress-ng on this machine, no virtual machines", generator)
    elif generator.value == _NONE:
        if wanted.value:
            draft.unused(wanted, "as in VSPERF, LOADGEN = 'DummyLoadGen' makes no load")
    elif not isinstance(wanted.value, dict) or not wanted.value.get("load"):
        draft.unused(generator, "as in VSPERF, a test without a Load has none beside it")
    else:
        _map(draft, generator, wanted)


def _map(draft: Draft, generator: SettingValue, wanted: SettingValue) -> None:
    strange = sorted(set(wanted.value) - _KEYS)
    if strange:
        draft.lacks("stress-ng is started with what the experiment says", wanted.at(strange[0]))
    pattern = wanted.at("pattern")
    kinds = Counter(letter for letter in str(pattern.value).lower() if letter in _KIND_OF)
    if not kinds:
        raise draft.wrong(pattern, "give letters of c (CPU), i (I/O) and m (memory)")
    neighbour: dict[str, Any] = {
        "workers": {_KIND_OF[letter]: count for letter, count in kinds.items()},
        "load_percent": number(draft, wanted.at("load"), 0, 100),
    }
    if wanted.at("reserved").value is not None:
        neighbour["reserved_cores"] = whole(draft, wanted.at("reserved"), 0, MAX_RESERVED)
    memory = wanted.at("load_memory")
    if memory.value and "m" in kinds:
        neighbour["memory_percent"] = number(draft, memory, 0, 100)
        draft.differs(memory, "above 90 % of what is available it is refused; VSPERF has no such bound")
    draft.put("neighbour", neighbour, wanted)
    draft.differs(generator, "stress-ng runs on cores without packet work, where there are any; VSPERF's on any core")
