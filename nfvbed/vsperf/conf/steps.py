"""Reads VSPERF's step-driven tests: steps that set up a path and send on it become tests of that deployment.

Nothing is executed: ports, connections and VNFs are followed as the steps name them, or VSPERF sets the path up itself
and the steps send on it alone. What a step does beside is never left out in silence: the first step without an
equivalent makes the whole test missing, by its name.
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
_TOOL: Final = re.compile(r"""\$TOOLS\[["']([\w-]+)["']\]\s+(?:-t\s+\S+\s+|--\s+)*([\w/-]+)""")
"""A tool as VSPERF finds it in a command line, its options left out, and its first word."""
_SENDS: Final = ("trafficgen", "send_traffic")
_TYPE: Final = "traffic_type"
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
    given: str = ""
    """The deployment that VSPERF sets up before the first step; empty: the steps set up everything."""
    traffics: list[Mapping[str, Any]] = field(default_factory=list)
    """What was sent, in order."""
    whole: bool = True
    """Whether nothing of the path has been taken down."""

    @property
    def deployment(self) -> str:
        """The deployment of VSPERF that has this path.

        Raises:
            MissingStepError: none has.
        """
        if self.given:
            return self.given
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

    def send(self, traffic: Mapping[str, Any]) -> None:
        """Send on the path, before anything of it is taken down; again with another type of traffic alone.

        Raises:
            MissingStepError: there is no such path, or it is sent on again in another way.
        """
        again = " ".join(_SENDS) + " a second time"
        if not self.whole:
            raise MissingStepError(f"{again}, after the path was changed")
        for earlier in self.traffics:
            if earlier.get(_TYPE) == traffic.get(_TYPE):
                raise MissingStepError(again)
            if {**earlier, _TYPE: ""} != {**traffic, _TYPE: ""}:
                raise MissingStepError(f"{again}, with traffic that differs in more than its type")
        _ = self.deployment
        self.traffics.append(traffic)


def without_steps(case: TestCase) -> tuple[TestCase, ...]:
    """Return a step-driven test as tests of the deployment that it is sent on, one for each time; any other as it is.

    Raises:
        MissingStepError: a step has no equivalent.
    """
    steps = case.keywords.get(KEYWORD)
    if not steps:
        return (case,)
    words = [_words(step) for step in steps]
    sends = any(tuple(one[1:3]) == _SENDS for one in words)
    path = _Path(given="" if case.deployment == CLEAN else case.deployment)
    if not sends and not path.given:
        raise MissingStepError("a test without trafficgen send_traffic: no frames are sent")
    named: dict[str, str] = {}
    for number, one in enumerate(words):
        _follow(path, named, number, one)
    # After steps that send nothing VSPERF sends by itself, on what it has set up by itself.
    return tuple(_sent(case, path.deployment, traffic) for traffic in path.traffics or [{}])


def _sent(case: TestCase, deployment: str, traffic: Mapping[str, Any]) -> TestCase:
    keywords = PlacedDict(case.keywords)
    del keywords[KEYWORD]
    parameters = PlacedDict(keywords.get("Parameters", {}))
    parameters["TRAFFIC"] = merged(PlacedDict(parameters.get("TRAFFIC", {})), traffic)
    keywords["Parameters"] = parameters
    return replace(case, deployment=deployment, keywords=keywords)


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
    sent = bool(path.traffics)
    if path.given and not _leaves(subject, function):
        raise MissingStepError(f"{_named(subject, function, given)} on top of deployment {path.given}")
    if subject == "vswitch" and _set_up(path, function, given, _Ports(named, number)):
        ports = {"add_phy_port": path.outer, "add_vport": path.inner}.get(function)
        if ports is not None:
            ports.append(f"port{number}")
            named.update(known)
    elif (subject == "vswitch" and _flushes(path, function, given)) or _reads(subject, function):
        return
    elif sent and _takes_down(subject, function):
        path.whole = False
    elif _VNF.fullmatch(subject) and function == "start" and not sent:
        path.vnfs += 1
    elif (subject, function) == _SENDS:
        path.send(given[0] if given and isinstance(given[0], Mapping) else {})
    else:
        raise MissingStepError(f"{_named(subject, function, given)} {'after' if sent else 'before'} the traffic")


def _named(subject: str, function: str, given: Sequence[Any]) -> str:
    """Return a step's object and function; of a command line also the switch's tool in it, and what that does."""
    tool = _TOOL.search(str(given[0])) if given and function.startswith("exec_shell") else None
    words = (_VNF.sub("vnf", subject), function, f"({tool[1]} {tool[2]})" if tool else "")
    return " ".join(filter(None, words))


def _reads(subject: str, function: str) -> bool:
    return (subject == "vswitch" and function in _READ_ALONE) or (subject, function) == ("trafficgen", "get_results")


def _takes_down(subject: str, function: str) -> bool:
    """Return whether a step takes down a part of the path; nfvbed takes its paths down by itself."""
    return (subject == "vswitch" and function in _TAKEN_DOWN) or bool(_VNF.fullmatch(subject) and function == "stop")


def _leaves(subject: str, function: str) -> bool:
    """Return whether a step leaves the path as it is."""
    return _reads(subject, function) or (subject, function) == _SENDS


def _flushes(path: _Path, function: str, given: Sequence[Any]) -> bool:
    """Return whether a step removes all flows of a switch that has none yet."""
    return function == "del_flow" and len(given) == 1 and not path.joined


@dataclass(frozen=True)
class _Ports:
    """The ports that earlier steps made."""

    named: Mapping[str, str]
    number: int
    """Number of the step that refers to them, from 0."""

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
    if path.traffics:
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
