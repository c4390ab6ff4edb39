"""Maps WHITELIST_NICS to the variant whose outer ports are these NICs, and compares them with the site's cables."""

import re
from collections.abc import Sequence
from typing import Final

from nfvbed.dataplanes.vsperfswitch import VsperfSwitch
from nfvbed.errors import UnsupportedError
from nfvbed.spec.pci import ENDS
from nfvbed.spec.site import SiteSpec
from nfvbed.vsperf.conf.draft import Draft
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings

SETTING: Final = "WHITELIST_NICS"
_ADDRESS: Final = re.compile(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}:[01][0-9a-f]\.[0-7])(\|vf[0-9]+)?", re.IGNORECASE)
_VIRTUAL: Final = "the switch's outer ports are virtual here, no NICs"


def map_nics(draft: Draft, settings: TestSettings, switch: VsperfSwitch) -> tuple[str, ...]:
    """Return the PCI addresses of the switch's two NICs; none where its outer ports are virtual.

    Args:
        draft: gets what is missing, or differs.
        switch: the one that VSWITCH is.
    """
    found = settings.get(SETTING)
    if found is None or found.value == []:
        return ()
    if settings.is_default(found):
        draft.differs(found, f"{_VIRTUAL}; VSPERF's default is something else")
        return ()
    if not isinstance(found.value, list | tuple) or not all(isinstance(one, str) for one in found.value):
        raise draft.wrong(found, "give a list of PCI addresses: ['05:00.0', '05:00.1']")
    if not switch.on_nics:
        draft.lacks(_VIRTUAL, found, f"give {SETTING} = []")
        draft.defaults[SETTING] = settings.default(SETTING)
        return ()
    addresses = tuple(_address(draft, found, one) for one in found.value)
    if len(set(addresses)) != ENDS:
        draft.lacks(f"a path has {ENDS} NICs of the switch, one at each end", found, "name two NICs")
    return addresses


def _address(draft: Draft, found: SettingValue, text: str) -> str:
    match = _ADDRESS.fullmatch(text.strip())
    if match is None:
        raise draft.wrong(found, "give PCI addresses, as lspci writes them: '05:00.0' or '0000:05:00.0'")
    domain, rest, function = match.groups()
    if function:
        draft.lacks("a virtual function of a NIC is no outer port of a switch (variant sriov has VNFs on them)", found)
    return f"{domain or '0000'}:{rest}".lower()


def require_cables(nics: Sequence[str], site: SiteSpec, place: str) -> None:
    """Make sure that the NICs are those that the site's cables give to the switch; clouds check what they have.

    Args:
        nics: PCI addresses.
        place: where they are written.

    Raises:
        UnsupportedError: the site has other cables, or none: no other NIC is ever taken in their place.
    """
    if site.has_nova:
        return
    cabled = tuple(cable.switch for cable in getattr(site, "cables", ()))
    if set(cabled) == set(nics):
        return
    written = ", ".join(f'{{switch: "{nic}", generator: ADDRESS}}' for nic in nics)
    raise UnsupportedError(
        f"site {site.name} has no cables to these NICs",
        where=place,
        observed=f"{SETTING}: {', '.join(nics)}; the site's cables lead to {', '.join(cabled) or 'none'}",
        fix=f"cables: [{written}] in deploy/sites/{site.name}.yml, with the generator's ports at their other ends; or"
        f" {SETTING} = [], for virtual ports",
    )
