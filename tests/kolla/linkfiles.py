"""What systemd makes of link files (systemd.link(5)): names of NICs, on machines that are known from facts alone."""

from collections.abc import Mapping
from configparser import ConfigParser
from typing import Any


def named_by_links(facts: Mapping[str, Any], links: Mapping[str, str]) -> dict[str, Any]:
    """Return a machine's facts with its NICs' names as the files have them.

    Args:
        facts: of the machine, with the kernel's names.
        links: files by path; of those that fit a device, the first one by its name counts.

    Raises:
        AssertionError: two NICs get one name.
    """
    read = [_link(text) for _, text in sorted(links.items())]
    names = {one: _name(one, found, read) for one, found in facts.items() if _is_device(found) and one != "vlan7"}
    assert len({*names.values()}) == len(names), f"systemd cannot give two NICs one name: {names}"
    found = {names.get(key, key): value for key, value in facts.items()}
    for name in names.values():
        found[name] = found[name] | {"device": name}
    found["interfaces"] = [names.get(one, one) for one in facts["interfaces"]]
    return found


def _link(text: str) -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read_string(text)
    return parser


def _is_device(found: object) -> bool:
    return isinstance(found, dict) and "device" in found


def _name(device: str, found: Mapping[str, Any], links: list[ConfigParser]) -> str:
    for link in links:
        match = link["Match"]
        # Both ports of a ConnectX-3 have the same path.
        fits = {"Path": f"pci-{found.get('pciid')}", "MACAddress": found.get("macaddress")}
        if all(fits[key] == value for key, value in match.items()):
            return link["Link"]["Name"]
    return device
