"""Open vSwitch's userspace datapath in a cloud that kolla-ansible deploys: options, and which thread polls which queue.

A variant counts ports of the generator's side (`p0`, `p1`): here they are the machine's NICs of role dpdk, in the order
of the site's file. Threads are counted among those of the NIC's NUMA node.
"""

from nfvbed.cloud.kolla.agent import ServiceOptions
from nfvbed.cloud.kolla.machine import KollaCompute
from nfvbed.cloud.kolla.uplinks import Uplink
from nfvbed.dataplanes.ovs.tuning import interface_settings, userspace_settings
from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions
from nfvbed.errors import UnsupportedError
from nfvbed.spec.rack import RackHostSpec
from nfvbed.spec.variant import Variant, options_of

OPTIONS = frozenset(
    {
        "pmd_cores",
        "n_rxq",
        "rxq_affinity",
        "rxq_assignment",
        "auto_load_balance",
        "pmd_maxsleep_us",
        "emc",
        "smc",
        "flow_limit",
        "max_idle_ms",
        "max_revalidator_ms",
    }
)
"""Options of poll-mode threads, receive queues, flows and caches."""
FIREWALL: ServiceOptions = {"securitygroup": {"firewall_driver": "openvswitch"}}
"""Firewall of Neutron's agent: Kolla's default needs a Linux bridge between instance and switch, which the userspace
datapath cannot have."""
_KEY = "pmd-rxq-affinity"
SHARED_CORE_SLEEP_US = 500
"""Two idle computes of a box leave their cores to others with it; one of them without it takes a core."""


def settings_of(compute: KollaCompute, options: OvsUserspaceOptions) -> dict[str, str]:
    """Return the settings of threads, caches and flows on a compute."""
    return userspace_settings(options) | sleep_of(compute, options)


def sleep_of(compute: KollaCompute, options: OvsUserspaceOptions) -> dict[str, str]:
    """Return the sleep of polling threads: the variant's; without one, where machines share cores, one of nfvbed's.

    It has both of its names: 3.2 renamed it, and reads the old one with a word in its log.
    """
    longest_us = options.pmd_maxsleep_us or (SHARED_CORE_SLEEP_US if compute.shares_cores else 0)
    return dict.fromkeys(("pmd-maxsleep", "pmd-sleep-max"), str(longest_us)) if longest_us else {}


def check_affinity(variant: Variant, name: str, host: RackHostSpec) -> None:
    """Check that a machine has the ports that a variant names, and leaves a thread to poll guests' ports.

    Raises:
        UnsupportedError: it names others, or leaves no thread of a node for guests.
    """
    options = options_of(variant, OvsUserspaceOptions)
    if not options.rxq_affinity:
        return
    nics = host.nics_of("dpdk")
    ports = {f"p{place}": nic for place, nic in enumerate(nics)}
    others = sorted(set(options.rxq_affinity) - set(ports))
    if others:
        raise UnsupportedError(
            f"rxq_affinity names {', '.join(others)}, and {name} has no such port",
            where=f"deploy/variants/{variant.name}.yml options.rxq_affinity",
            observed=f"its NICs of role dpdk are {', '.join(ports)}; ports of guests are Nova's to make",
            fix=f"name {', '.join(ports)} alone, or leave it out",
        )
    for node in sorted({nic.numa_node for nic in nics}):
        taken = {
            thread
            for port, threads in options.rxq_affinity.items()
            for thread in threads
            if ports[port].numa_node == node
        }
        if len(taken) == options.pmd_cores:
            # A thread that has queues of its own is given no others.
            raise UnsupportedError(
                f"rxq_affinity leaves no thread of NUMA node {node} of {name} for the ports of guests",
                where=f"deploy/variants/{variant.name}.yml options.rxq_affinity",
                observed=f"pmd_cores: {options.pmd_cores}, and each of them has queues of its own",
                fix="more pmd_cores, or name fewer threads",
            )


def affinity_of(compute: KollaCompute, link: Uplink, options: OvsUserspaceOptions) -> str:
    """Return the cores of a NIC's queues as Open vSwitch reads them (`0:2,1:3`); empty: Open vSwitch decides.

    `rxq_affinity` names NICs of role dpdk; those of other roles, as a controller's external one, have none.
    """
    named = compute.host.nics_of("dpdk")
    if link.nic not in named:
        return ""
    node = compute.host.numa[link.nic.numa_node].all_cores
    cores = [one for one in compute.placement.polling if one in node]
    port = f"p{named.index(link.nic)}"
    return interface_settings(port, options, cores).get(_KEY, "")
