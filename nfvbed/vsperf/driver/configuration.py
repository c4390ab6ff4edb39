"""The one file of settings for VSPERF: those that were read, as values, and the run's own.

VSPERF executes its settings files; this one holds assignments of literals and nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nfvbed.errors import UnknownNameError
from nfvbed.spec.validate import suggestion
from nfvbed.vsperf.conf import VsperfSettings
from nfvbed.vsperf.conf.names import is_setting
from nfvbed.vsperf.conf.placed import PlacedDict
from nfvbed.vsperf.conf.settings import merged
from nfvbed.vsperf.conf.testcase import LISTS, SETTING_OF, TestCase

_OWN: Final = frozenset((*LISTS, "TEST_PARAMS"))
"""Settings that are written in another form, or not at all."""


@dataclass(frozen=True)
class Additions:
    """The run's additions to the settings."""

    forced: Mapping[str, Any] = field(default_factory=dict)
    """Settings that replace whatever was read."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Settings that hold where the user's own files say nothing."""
    paths: Mapping[str, Any] = field(default_factory=dict)
    """Sections of PATHS."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the test, which weigh more than settings; also what VSPERF finds out itself and no file can set."""


def find_case(settings: VsperfSettings, stock: VsperfSettings, test: str) -> TestCase:
    """Return the performance test that VSPERF will run.

    Args:
        settings: VSPERF's own and the user's, whose list of tests replaces VSPERF's.
        stock: only VSPERF's own; its tests can be run even if the user's list lacks them.
        test: its ID.

    Raises:
        UnknownNameError: there is none of that name; with the nearest.
    """
    case = settings.test(test) or stock.test(test)
    if case is None or case.kubernetes:
        names = [case.name for case in (*settings.tests, *stock.tests) if not case.kubernetes]
        raise UnknownNameError(
            f"VSPERF has no performance test {test!r}",
            where=", ".join(dict.fromkeys(str(file.parent) for file in settings.files)),
            observed=repr(test),
            fix=suggestion(test, names),
        )
    return case


def write_configuration(settings: VsperfSettings, stock: Path, case: TestCase, additions: Additions) -> str:
    """Return the text of the file.

    Args:
        settings: VSPERF's own and the user's, read in this order.
        stock: VSPERF's settings folder; VSPERF itself reads from it what no other file changed.
        case: the test, the only one in the file.
        additions: the run's own settings.
    """
    own = {
        name: settings.values[name]
        for name, place in settings.places.items()
        if is_setting(name) and name not in _OWN and stock not in place.path.parents and name in settings.values
    }
    values = {**additions.defaults, **own, **additions.forced}
    if additions.paths:
        paths = dict(settings.values.get("PATHS", {}))
        values["PATHS"] = {**paths, **additions.paths}
    parameters = merged(PlacedDict(case.parameters), additions.parameters)
    overruled = {name: value for name, value in additions.forced.items() if name in parameters}
    # A test's own keyword would weigh more than the setting that replaces it here.
    kept = {key: value for key, value in case.keywords.items() if SETTING_OF.get(key) not in additions.forced}
    values["PERFORMANCE_TESTS"] = [{**kept, "Parameters": {**parameters, **overruled}}]
    # Since fraser VSPERF replaces TEST_PARAMS by what --test-params gave, which it keeps under the other name.
    values["TEST_PARAMS"] = values["_PARAMS_LIST"] = settings.values.get("TEST_PARAMS", {})
    lines = [f"{name} = {_literal(value)!r}" for name, value in sorted(values.items()) if value is not None]
    head = "# Written by `nfvbed run --driver vsperf`: the settings that it read, as values, and what the run needs.\n"
    return head + "\n".join(lines) + "\n"


def _literal(value: Any) -> Any:
    """Return a value of plain types, whose `repr` is a literal."""
    if isinstance(value, Mapping):
        return {_literal(key): _literal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_literal(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_literal(item) for item in value)
    return value
