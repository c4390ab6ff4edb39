"""Reads VSPERF's step-driven tests: steps that set up a path and send on it become a test of that deployment.

Nothing is executed: ports, connections and VNFs are followed as the steps name them. What a step does beside is never
left out in silence: the first step without an equivalent makes the whole test missing, by its name.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from nfvbed.vsperf.conf.placed import PlacedDict
from nfvbed.vsperf.conf.settings import merged
from nfvbed.vsperf.conf.testcase import TestCase

KEYWORD: Final = "TestSteps"
CLEAN: Final = "clean"
"""The deployment in which the steps set up everything."""
PORTS_OF_VNF: Final = 2
_READ_ALONE: Final = frozenset(("dump_flows", "dump_connections"))
_TAKEN_DOWN: Final = frozenset(("del_flow", "del_port", "del_switch", "del_connection"))
"""Where they come after the traffic; nfvbed takes its paths down by itself."""
_VNF: Final = re.compile(r"vnf\w*", re.IGNORECASE)
_STEP: Final = re.compile(r"#STEP\[(-?\w+)\]\[[01]\]")
"""A port as an earlier step returned it: its name is at 0, its number at 1."""
_OUTPUT: Final = re.compile(r"output:(.+)")
_SENDS: Final = ("trafficgen", "send_traffic")
_FLOW_KEYS: Final = frozenset(("in_port", "actions", "idle_timeout"))


class MissingStepError(ValueError):
    """A step has no equivalent; the text names it."""


@dataclass
class _Path:
    """What the steps have set up so far."""

    switches: int = 0
    outer: list[str] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)
    joined: dict[str, str] = field(default_factory=dict)
    """Port that frames come in by: port that they leave by."""
    vnfs: int = 0
    traffic: Mapping[str, Any] | None = None

    @property
    def deployment(self) -> str:
        """The deployment of VSPERF that has this path.

        Raises:
            MissingStepError: none has.
        """
        vnfs, rest = divmod(len(self.inner), PORTS_OF_VNF)
        if self.switches != 1 or len(self.outer) != PORTS_OF_VNF or rest or vnfs != self.vnfs:
            raise MissingStepError(
                f"a path of {self.switches} switches, {len(self.outer)} physical and {len(self.inner)} virtual ports,"
                f" {self.vnfs} VNFs"
            )
        ends = [self.outer[0], *self.inner, self.outer[1]]
        pairs = list(zip(ends[::2], ends[1::2], strict=True))
        if self.joined != dict(pairs) | {second: first for first, second in pairs}:
            raise MissingStepError("connections other than a chain of all VNFs in both directions")
        return {0: "p2p", 1: "pvp"}.get(vnfs, f"pvvp{vnfs}")


def without_steps(case: TestCase) -> TestCase:
    """Return a step-driven test as one of the deployment that its steps set up; any other test as it is.

    Raises:
        MissingStepError: a step has no equivalent.
    """
    steps = case.keywords.get(KEYWORD)
    if not steps:
        return case
    if case.deployment != CLEAN:
        raise MissingStepError(f"steps on top of deployment {case.deployment}")
    words = [_words(step) for step in steps]
    if not any(tuple(one[1:3]) == _SENDS for one in words):
        raise MissingStepError("a test without trafficgen send_traffic: no frames are sent")
    path = _Path()
    named: dict[str, str] = {}
    for number, one in enumerate(words):
        _follow(path, named, number, one)
    keywords = PlacedDict(case.keywords)
    del keywords[KEYWORD]
    parameters = PlacedDict(keywords.get("Parameters", {}))
    parameters["TRAFFIC"] = merged(PlacedDict(parameters.get("TRAFFIC", {})), path.traffic or {})
    keywords["Parameters"] = parameters
    return replace(case, deployment=path.deployment, keywords=keywords)


def _words(step: Any) -> list[Any]:
    """Return alias (empty: none), object, function and parameters of a step."""
    words = list(step) if isinstance(step, list | tuple) else [step]
    alias = str(words.pop(0))[1:] if words and str(words[0]).startswith("#") else ""
    subject, function, *given = [*words, "", ""] if len(words) < 2 else words
    # With `!` VSPERF does not judge what a step returns; nfvbed judges results by itself.
    return [alias, str(subject).lstrip("!"), str(function), *given]


def _follow(path: _Path, named: dict[str, str], number: int, words: Sequence[Any]) -> None:
    """Follow one step.

    Args:
        named: the port that a step made, by the step's number or alias.
        number: of the step, from 0.
        words: of the step, as `_words` returns them.
    """
    alias, subject, function, *given = words
    known = {str(number): f"port{number}", **({alias: f"port{number}"} if alias else {})}
    if subject == "vswitch" and _set_up(path, function, given, _Ports(named, number)):
        ports = {"add_phy_port": path.outer, "add_vport": path.inner}.get(function)
        if ports is not None:
            ports.append(f"port{number}")
            named.update(known)
    elif subject == "vswitch" and (
        function in _READ_ALONE
        or (function in _TAKEN_DOWN and path.traffic is not None)
        or _flushes(path, function, given)
    ):
        return
    elif _VNF.fullmatch(subject) and function == "start" and path.traffic is None:
        path.vnfs += 1
    elif _VNF.fullmatch(subject) and function == "stop" and path.traffic is not None:
        return
    elif (subject, function) == _SENDS and path.traffic is None:
        path.traffic = given[0] if given and isinstance(given[0], Mapping) else {}
        # Before anything is taken down.
        _ = path.deployment
    elif (subject, function) == ("trafficgen", "get_results"):
        return
    else:
        raise MissingStepError(_name(path, subject, function))


def _name(path: _Path, subject: str, function: str) -> str:
    named = " ".join(filter(None, (_VNF.sub("vnf", subject), function)))
    if named == " ".join(_SENDS):
        return f"{named} a second time"
    return f"{named} {'after' if path.traffic is not None else 'before'} the traffic"


def _flushes(path: _Path, function: str, given: Sequence[Any]) -> bool:
    """Return whether a step removes all flows of a switch that has none yet."""
    return function == "del_flow" and len(given) == 1 and not path.joined


@dataclass(frozen=True)
class _Ports:
    """The ports that earlier steps made."""

    named: Mapping[str, str]
    number: int
    """Of the step that refers to them."""

    def find(self, text: object) -> str:
        """Return the port that a reference is.

        Raises:
            MissingStepError: it is none.
        """
        match = _STEP.fullmatch(str(text))
        key = match[1] if match else ""
        key = str(self.number + int(key)) if key.startswith("-") else key
        if key not in self.named:
            raise MissingStepError(f"vswitch with a port that is no earlier step's: {text}")
        return self.named[key]


def _set_up(path: _Path, function: str, given: Sequence[Any], ports: _Ports) -> bool:
    """Follow a step that sets up the switch; return whether it is one."""
    if path.traffic is not None:
        return False
    if function == "add_switch":
        path.switches += 1
    elif function == "add_connection" and len(given) == 3:
        path.joined[ports.find(given[1])] = ports.find(given[2])
    elif function == "add_flow" and len(given) == 2 and isinstance(given[1], Mapping):
        flow = given[1]
        actions = flow.get("actions", ())
        beside = sorted({str(key) for key in flow} - _FLOW_KEYS)
        match = _OUTPUT.fullmatch(str(actions[0])) if len(actions) == 1 else None
        if beside or match is None or "in_port" not in flow:
            raise MissingStepError(f"vswitch add_flow with {', '.join(beside) or f'actions {list(actions)}'}")
        path.joined[ports.find(flow["in_port"])] = ports.find(match[1])
    else:
        return function in ("add_phy_port", "add_vport")
    return True
