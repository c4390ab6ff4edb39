"""Maps VSWITCH and the VSWITCH settings to a variant and its options."""

from typing import Any, Final

from nfvbed.dataplanes.vsperfswitch import SwitchSettings, VsperfSwitch
from nfvbed.errors import ConfigurationError
from nfvbed.spec.loader import Project
from nfvbed.vsperf.conf.draft import Draft, one_of, whole
from nfvbed.vsperf.conf.nics import map_nics
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings
from nfvbed.vsperf.conf.testcase import TestCase
from nfvbed.vsperf.conf.testids import SWITCH_OF
from nfvbed.vsperf.conf.tunnel import PLAIN, map_tunnel

NONE: Final = "none"
MAX_QUEUES: Final = 64
_OWN_BUILD: Final = "leave PATHS out; environment variables name a build of your own (docs/reference/environment.md)"


def map_switch(draft: Draft, settings: TestSettings, project: Project, case: TestCase) -> VsperfSwitch | None:
    """Map the data plane; one without a variant is missing, and no other replaces it.

    Args:
        case: the test, whose deployment may be a tunnel within the switch.

    Returns:
        The switch; None where the test has none.
    """
    found = settings.require("VSWITCH")
    if str(found.value).lower() == NONE:
        draft.lacks("a path without a switch (SR-IOV, testpmd alone) is no variant", found)
        return None
    switch = SWITCH_OF[one_of(draft, found, (*SWITCH_OF, NONE))]
    draft.nics = map_nics(draft, settings, switch)
    tunnelled = map_tunnel(draft, settings, case)
    if tunnelled and not switch.has_tunnels:
        draft.lacks("tunnels are between Open vSwitches with DPDK", found)
    variant = tunnelled or (switch.on_nics if draft.nics else switch.variant)
    if variant not in project.variant_names:
        draft.lacks(f"there is no variant {variant} (deploy/variants/{variant}.yml)", found)
    draft.put("variants", [variant], found)
    if switch.rx_queues:
        _queues(draft, settings, switch)
    switch.map_options(_OfSwitch(draft, settings, tunnelled is not None))
    _build(draft, settings, found)
    return switch


class _OfSwitch(SwitchSettings):
    """The settings of a test, and its draft, for the room of its data plane."""

    def __init__(self, draft: Draft, settings: TestSettings, is_tunnelled: bool) -> None:
        self.is_tunnelled = is_tunnelled
        self._draft = draft
        self._settings = settings

    def value(self, name: str) -> Any:
        found = self._settings.get(name)
        return None if found is None else found.value

    def default(self, name: str) -> Any:
        return self._settings.default(name)

    def is_default(self, name: str) -> bool:
        return self._settings.is_default(self._at(name))

    def one_of(self, name: str, allowed: tuple[str, ...]) -> str:
        return str(one_of(self._draft, self._at(name), allowed))

    def whole(self, name: str, low: int, high: int) -> int:
        return whole(self._draft, self._at(name), low, high)

    def set_option(self, option: str, value: Any) -> None:
        self._draft.variant_options[option] = value

    def differs(self, text: str, name: str, *keys: str) -> None:
        self._draft.differs(self._at(name, *keys), text)

    def lacks(self, text: str, name: str, *keys: str) -> None:
        self._draft.lacks(text, self._at(name, *keys))

    def wrong(self, fix: str, name: str, *keys: str) -> ConfigurationError:
        return self._draft.wrong(self._at(name, *keys), fix)

    def _at(self, name: str, *keys: str) -> SettingValue:
        return (self._settings.get(name) or SettingValue(name, None, None)).at(*keys)


def _queues(draft: Draft, settings: TestSettings, switch: VsperfSwitch) -> None:
    """Map the queues of the outer ports, which may have several on NICs alone."""
    for name in ("VSWITCH_DPDK_MULTI_QUEUES", "VSWITCH_MULTI_QUEUES"):
        queues = settings.get(name)
        count = 0 if queues is None else whole(draft, queues, 0, MAX_QUEUES)
        if queues is None or count <= 1:
            continue
        if draft.variant_options.keys() >= PLAIN.keys():
            draft.lacks("the overlay's ports have one queue", queues, f"give {name} = 0")
        elif draft.nics or not switch.single_queue:
            draft.variant_options[switch.rx_queues] = count
        else:
            draft.lacks(switch.single_queue, queues, f"give {name} = 0, or NICs: WHITELIST_NICS")


def _build(draft: Draft, settings: TestSettings, switch: SettingValue) -> None:
    """Refuse a user's own build; VSPERF's default is a build too, of a release in its scripts."""
    found = settings.get("PATHS")
    if found is None:
        return
    section = found.at("vswitch", str(switch.value))
    default: Any = settings.default("PATHS")
    known = (default or {}).get("vswitch", {}).get(switch.value, {})
    kind = section.at("type").value or known.get("type")
    parts = section.at(str(kind))
    if section.value is None:
        return
    own = [
        parts.at(key)
        for key in parts.value or {}
        if not settings.is_like(parts.at(key), known.get(str(kind), {}).get(key))
    ]
    for part in own:
        draft.lacks("the switch that is measured is nfvbed's own build", part, _OWN_BUILD)
    if not own:
        draft.differs(section, "the switch that is measured is nfvbed's own build")
