"""Accounts for every setting of a test: it shapes the experiment, is missing, or has a note."""

from collections.abc import Collection
from typing import Any, Final

from nfvbed.vsperf.conf.draft import Draft
from nfvbed.vsperf.conf.old import UNREAD
from nfvbed.vsperf.conf.released import same
from nfvbed.vsperf.conf.settings import GUEST, SettingValue, TestSettings
from nfvbed.vsperf.conf.treatment import SETTINGS, Relevance, Setting, Treatment

_UNREAD: Final = "no release of VSPERF reads it"
_NO_GUESTS: Final = "the VNFs are no virtual machines"
_DEFAULT_DIFFERS: Final = "{}; VSPERF's default is something else"


def account(draft: Draft, settings: TestSettings, matters: Collection[Relevance], vswitch: str) -> None:
    """Note each given setting that nfvbed does not use, and report those as missing that would change a measurement.

    Args:
        draft: gets what is missing, and the notes.
        matters: the test's features: a setting of another feature changes nothing, in VSPERF as here.
        vswitch: the test's switch, by VSWITCH; a setting of another one changes nothing either.
    """
    for name in settings.given():
        if name in UNREAD:
            draft.unused(SettingValue(name, None, None), _UNREAD)
        elif name in SETTINGS:
            _account(draft, settings, name, matters, vswitch)


def _account(draft: Draft, settings: TestSettings, name: str, matters: Collection[Relevance], vswitch: str) -> None:
    setting, found = SETTINGS[name], settings.raw(name)
    if found is None:
        return
    if setting.treatment is Treatment.NOTED:
        draft.unused(found, setting.reason, is_default=settings.is_as_released(found))
    elif not setting.matters_in(matters, vswitch):
        if setting.matters is Relevance.GUESTS and Relevance.VNFS in matters:
            draft.unused(found, _NO_GUESTS, is_default=settings.is_as_released(found))
    elif setting.treatment is Treatment.MISSING:
        _missing(draft, settings, settings.get(name) or found, setting)


def _missing(draft: Draft, settings: TestSettings, found: SettingValue, setting: Setting) -> None:
    if _accepted(found, setting):
        return
    if not settings.is_default(found):
        draft.lacks(setting.reason, found)
        draft.defaults[found.name] = settings.default(found.name)
    elif setting.differs:
        draft.differs(found, _DEFAULT_DIFFERS.format(setting.reason))
    else:
        draft.unused(found, setting.reason, is_default=True)


def _accepted(found: SettingValue, setting: Setting) -> bool:
    """Return whether a value is what nfvbed does anyway; of guests the value of each."""

    def accepted(value: Any) -> bool:
        return any(same(value, one) for one in setting.accepts)

    each = found.name.startswith(GUEST) and isinstance(found.value, list | tuple) and found.value
    return all(accepted(value) for value in found.value) if each else accepted(found.value)
