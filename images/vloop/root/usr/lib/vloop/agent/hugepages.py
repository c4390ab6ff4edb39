"""The guest's hugepages: those of the kernel's command line, or taken when they are needed."""

from agent.program import read, write
from agent.refusal import Refusal

_PLACE = "/sys/kernel/mm/hugepages/hugepages-2048kB"
_PAGE_MIB = 2


def state() -> dict:
    """Return the pages of 2 MiB."""
    total, free = (int(read(f"{_PLACE}/{name}", "0")) for name in ("nr_hugepages", "free_hugepages"))
    return {"page_kib": _PAGE_MIB * 1024, "total": total, "free": free}


def provide(mib: int) -> None:
    """Have at least so much free; what is lacking is taken from ordinary memory."""
    needed = -(-mib // _PAGE_MIB)
    now = state()
    if now["free"] >= needed:
        return
    write(f"{_PLACE}/nr_hugepages", str(now["total"] + needed - now["free"]))
    free = state()["free"]
    if free < needed:
        raise Refusal(
            "the guest has too few hugepages",
            where=_PLACE,
            observed=f"{free} free, {needed} needed",
            fix=f"give it more memory, or hugepagesz=2M hugepages={needed} on its kernel's command line",
        )
