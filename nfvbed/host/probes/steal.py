"""How finely the stolen time of the cores is known."""

from nfvbed.host.cores.steal import account
from nfvbed.records.findings import Finding, State

TOPIC = "stolen time"


def probe_steal() -> Finding:
    """Start the kernel's account for this process, as a trial does."""
    return steal_finding(account())


def steal_finding(found: object) -> Finding:
    """Return the finding of an account, or of the reason why there is none.

    Args:
        found: the account, or the reason as text.
    """
    known = not isinstance(found, str)
    return Finding(
        topic=TOPIC,
        state=State.PRESENT if known else State.LIMITED,
        summary="counted in ns, by core" if known else f"counted in steps of 10 ms: {found}",
        probed="attached a BPF program that reads the kernel's account",
        fix=""
        if known
        else "make build, with clang, bpftool and libbpf; a kernel with CONFIG_PARAVIRT_TIME_ACCOUNTING,"
        " CONFIG_DEBUG_INFO_BTF and CONFIG_BPF_EVENTS; without, trials of a search by clean trials last at least 1 s"
        " where anything was ever stolen",
    )
