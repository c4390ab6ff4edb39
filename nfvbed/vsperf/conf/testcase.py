"""VSPERF's test cases, in its lists `PERFORMANCE_TESTS`, `INTEGRATION_TESTS` and `K8SPERFORMANCE_TESTS`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from nfvbed.vsperf.conf.names import TRAFFIC_KEYS
from nfvbed.vsperf.conf.old import PARAMETERS, TRAFFIC_KEYWORDS, parameters_of
from nfvbed.vsperf.conf.placed import Place, places_of, refused, shown
from nfvbed.vsperf.conf.treatment import KNOWN
from nfvbed.vsperf.conf.unknown import UnknownNames

LISTS: Final = ("PERFORMANCE_TESTS", "INTEGRATION_TESTS", "K8SPERFORMANCE_TESTS")
KEYWORDS: Final = frozenset(
    (
        "Name",
        "Deployment",
        "Description",
        "Parameters",
        "vSwitch",
        "VNF",
        "Trafficgen",
        "Tunnel Type",
        "Tunnel Operation",
        "Frame Modification",
        "Load",
        "Collector",
        "TestSteps",
        *TRAFFIC_KEYWORDS,
    )
)
SETTING_OF: Final = MappingProxyType(
    {"vSwitch": "VSWITCH", "VNF": "VNF", "Trafficgen": "TRAFFICGEN", "Tunnel Type": "TUNNEL_TYPE"}
)
"""Keywords that replace a setting, whatever else gives it a value."""


@dataclass(frozen=True)
class TestCase:
    """One test case."""

    __test__ = False
    """Keeps pytest from taking the class for a test."""

    name: str
    deployment: str
    description: str = ""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    """All that is written of it, by VSPERF's own keywords."""
    place: Place | None = None
    """None: it is known from `TEST_IDS`, and no file that was read defines it."""
    kubernetes: bool = False

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Settings that hold for this test only; those that old forms say in keywords are among them."""
        return parameters_of(self.keywords)

    def place_of(self, keyword: str) -> Place | None:
        """Return the place of a keyword, or of the test."""
        return places_of(self.keywords).get(keyword, self.place)


def read_test_cases(
    values: Mapping[str, Any], places: Mapping[str, Place], unknown: UnknownNames
) -> tuple[TestCase, ...]:
    """Return the test cases in the settings, after checking every name in them.

    Args:
        places: of all settings.
        unknown: gets unknown keywords and parameters.

    Raises:
        ConfigurationError: something that is no test case, or a name that is there twice.
    """
    found: dict[str, TestCase] = {}
    for name in LISTS:
        cases = values.get(name, [])
        if not isinstance(cases, list | tuple):
            raise refused(f"{name} is not a list", places.get(name), shown(cases), f"write {name} = [{{...}}]")
        for case in cases:
            read = _read(case, places.get(name), name == "K8SPERFORMANCE_TESTS", unknown)
            if read is None:
                continue
            if read.name in found:
                first = found[read.name].place
                fix = "give it another name"
                raise refused(f"the test {read.name!r} is there twice", read.place, f"first at {first}", fix)
            given = case.get("Parameters", {})
            check_parameters(given, values, f"test {read.name}", read.place_of("Parameters"), unknown)
            found[read.name] = read
    return tuple(found.values())


def _read(case: Any, place: Place | None, kubernetes: bool, unknown: UnknownNames) -> TestCase | None:
    """Return one test; None where an unknown keyword may be a missing one, misspelt."""
    if not isinstance(case, dict):
        raise refused("a test is not a dictionary", place, shown(case), "write {'Name': ..., 'Deployment': ...}")
    own = places_of(case)
    first = min(own.values(), key=lambda found: found.line, default=place)
    strange = [key for key in case if key not in KEYWORDS]
    for key in strange:
        unknown.add("keyword", key, f"of test {case.get('Name', '?')}", own.get(key, first), KEYWORDS)
    for key in ("Name", "Deployment"):
        if not isinstance(case.get(key), str) or not case[key]:
            if strange:
                return None
            seen = shown(case[key]) if key in case else "it is missing"
            raise refused(f"a test needs its {key!r}", own.get(key, first), seen, f"write '{key}': '...'")
    if not isinstance(case.get("Parameters", {}), dict):
        what = f"Parameters of test {case['Name']} are not a dictionary"
        raise refused(what, own.get("Parameters"), shown(case["Parameters"]), "write {'SETTING': value}")
    return TestCase(
        name=case["Name"],
        deployment=case["Deployment"].lower(),
        description=str(case.get("Description", "")),
        keywords=case,
        place=own.get("Name", first),
        kubernetes=kubernetes,
    )


def check_parameters(
    parameters: Mapping[str, Any], values: Mapping[str, Any], of: str, place: Place | None, unknown: UnknownNames
) -> None:
    """Check the names of settings that apply to a test, or to all of a run (`TEST_PARAMS`).

    As in VSPERF, parameters must be settings; a file may define settings of its own.

    Args:
        values: all settings that were read.
        of: the owner of the parameters, for messages.
        place: of all parameters.
        unknown: gets those that are no settings.

    Raises:
        ConfigurationError: they are no dictionary, or TRAFFIC among them is none.
    """
    if not isinstance(parameters, Mapping):
        raise refused(
            f"the parameters of {of} are not a dictionary", place, shown(parameters), "write {'SETTING': value}"
        )
    for name in parameters:
        at = places_of(parameters).get(name, place)
        if name == "TEST_PARAMS" or not (name in KNOWN or name in values or name in PARAMETERS):
            unknown.add("parameter", name, f"of {of}", at, KNOWN)
        if name == "TRAFFIC":
            check_traffic(parameters[name], at, unknown)


def check_traffic(traffic: Any, place: Place | None, unknown: UnknownNames) -> None:
    """Check the keys of a TRAFFIC dictionary.

    Args:
        unknown: gets the keys that VSPERF does not have.

    Raises:
        ConfigurationError: it is none; with file and line.
    """
    for part, known in TRAFFIC_KEYS.items():
        inner = traffic.get(part, {}) if part and isinstance(traffic, dict) else traffic
        named = f"TRAFFIC['{part}']" if part else "TRAFFIC"
        where = places_of(traffic).get(part, place)
        if not isinstance(inner, dict):
            raise refused(f"{named} is not a dictionary", where, repr(inner), f"write {named} as {{'key': value}}")
        for key in inner:
            if key not in known:
                unknown.add("key", key, f"in {named}", places_of(inner).get(key, where), known)
