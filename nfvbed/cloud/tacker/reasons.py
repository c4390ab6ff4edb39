"""Advice on what a service says: one advice for each cause, which the service's own words identify.

The words are those of Nova 15 to 33, Neutron 10 to 28, Heat 8 to 26, Keystone, oslo.policy, QEMU and libvirt
(tests/unit/cloud/tacker/recorded/said.yml). Only a refusal (status 403, a policy) means a lacking role.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """What a service's answer means."""

    PASSWORD = "password"
    QUOTA = "quota"
    ROLE = "role"
    ZONE = "zone"
    IMAGE = "image"
    ADDRESS = "address"
    ADDRESSES = "addresses"
    MAC = "mac"
    BINDING = "binding"
    NUMA = "numa"
    PAGES = "pages"
    HOST = "host"


@dataclass(frozen=True)
class _Reason:
    """One cause.

    Args:
        said: words of a service that identify it.
        instances: whether Nova's words about an instance also identify it; these may be about the instance's
            credentials.
    """

    said: re.Pattern[str]
    advice: str
    instances: bool = True


_CONSOLE = "console:"
"""Begins what a guest printed: no service says it."""
_OF_INSTANCE = ("Nova:", "Neutron:")
FLAVOR = "Flavor"
"""Heat's resource that Tacker makes of each VDU."""
FLAVORS_NEED = "the role `admin`: Tacker makes a flavor for each VDU of a SOL001 descriptor, which an administrator may"
POLICY_NEEDS = "a role that the service's policy lets do it"

_REASONS = {
    Cause.PASSWORD: _Reason(
        re.compile(r"requires authentication|HTTP 401\b|\b401 Unauthorized|\bUnauthorized\b"),
        "Tacker's VIM has another password: openstack vim set --config-file FILE VIM",
        instances=False,
    ),
    Cause.QUOTA: _Reason(
        re.compile(r"Quota exceeded"),
        "a larger quota of this project, which takes the role `admin` (openstack quota set); or remove instances of"
        " yours that are not needed",
    ),
    Cause.ROLE: _Reason(
        re.compile(
            r"HTTP 403\b|\b403 Forbidden|\bForbidden\b|disallowed by policy|Policy doesn't allow|"
            r"[Yy]ou are not authorized|\bNot authorized\b"
        ),
        f"these credentials need {POLICY_NEEDS}",
        instances=False,
    ),
    Cause.ZONE: _Reason(
        re.compile(r"availability zone is not available"),
        "name an availability zone that Nova has (openstack availability zone list): --zone GROUP=ZONE of several"
        " machines; of a given descriptor the zone that it names",
    ),
    Cause.IMAGE: _Reason(
        re.compile(r"Image \S+ is not active"),
        "see openstack image show: an image is `active` once its file was taken in whole; upload it again",
    ),
    Cause.ADDRESS: _Reason(
        re.compile(r"IP address \S+ (?:is already in use|already allocated|is in use)"),
        "another address, or none, so that Neutron chooses; who has it says openstack port list --fixed-ip"
        " ip-address=ADDRESS",
    ),
    Cause.ADDRESSES: _Reason(
        re.compile(r"No more IP addresses available"),
        "a larger allocation pool of the subnet (openstack subnet set --allocation-pool, its owner may), or remove"
        " ports of yours that are not needed",
    ),
    Cause.MAC: _Reason(
        re.compile(r"mac address \S+ is in use"),
        "another MAC address, or none; who has it says openstack port list --mac-address ADDRESS",
    ),
    Cause.BINDING: _Reason(
        re.compile(
            r"binding_failed|Binding failed for port|Failed to allocate the network|Virtual Interface creation failed"
        ),
        "see whether the network's agent on that host is alive (openstack network agent list --host HOST) and has the"
        " network's physical network and the port's kind (vnic_type); its log and neutron-server's say why",
    ),
    Cause.NUMA: _Reason(
        re.compile(r"NUMA topology (?:cannot fit|together with)"),
        "no NUMA node of a compute has room for it: see free cores and free hugepages by node (free_hugepages below"
        " /sys/devices/system/node on the compute; nfvbed verify), or take a smaller flavor, or one with"
        " hw:numa_nodes: 2",
    ),
    Cause.PAGES: _Reason(
        re.compile(
            r"backing store .*guest RAM|preallocating memory failed|usable hugetlbfs mount|hugetlbfs filesystem is not"
            r" mounted|Page size \S+ is not supported|Insufficient free host memory pages"
        ),
        "see the compute's hugepages by node and size (nr_hugepages and free_hugepages below /sys/devices/system/node;"
        " nfvbed verify), and that hugetlbfs of that size is mounted: another hw:mem_page_size of the flavor, fewer"
        " instances of yours, or more pages, which a machine has best from its boot on",
    ),
    Cause.HOST: _Reason(
        re.compile(r"No valid host was found|Exceeded maximum number of retries|Insufficient compute resources"),
        "see that a compute is up and enabled (openstack compute service list) and has what the flavor asks: vCPUs,"
        " memory, hugepages of that size on one node, virtual functions of that network; nova-scheduler's log names the"
        " filter that left none",
    ),
}


def causes_in(texts: Iterable[str]) -> tuple[Cause, ...]:
    """Return the causes that services name, the most certain first; a guest's console output is no cause.

    Args:
        texts: one for each service that said something.
    """
    said = [text for text in texts if not text.startswith(_CONSOLE)]
    of_others = [text for text in said if not text.startswith(_OF_INSTANCE)]
    found = [
        cause
        for cause, reason in _REASONS.items()
        if any(reason.said.search(text) for text in (said if reason.instances else of_others))
    ]
    # Nova says that it has found no host also of what a host could not do: that says more.
    return tuple(cause for cause in found if cause is not Cause.HOST or len(found) == 1)


def advice_on(texts: Iterable[str]) -> str:
    """Return advice on what services say; empty: no cause is known."""
    said = tuple(texts)
    advice = "; ".join(_REASONS[cause].advice for cause in causes_in(said))
    return advice.replace(POLICY_NEEDS, FLAVORS_NEED) if any(FLAVOR in text for text in said) else advice
