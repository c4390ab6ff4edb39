"""A reset of a NIC's switch (RFC 6201 section 4): its physical function is set down and up, which resets the NIC."""

from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.sriov.functions import FunctionRecord
from nfvbed.dataplanes.sriov.settings import VfLink
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.nics import netdevs
from nfvbed.host.timing import Steps

RESET = "physical function set down and up; its functions, their settings and drivers stay"


def check(records: tuple[FunctionRecord, ...]) -> None:
    """Refuse a reset that a function's user would not notice.

    Raises:
        UnsupportedError: DPDK or a guest has one.
    """
    for one in records:
        if one.use != "kernel":
            raise UnsupportedError(
                "there is no reset of functions that DPDK or a guest drives",
                where=f"{one.name}, {one.address} ({one.driver})",
                observed="the NIC takes their rings from functions when it is reset; the kernel's drivers notice that "
                "and set theirs up again, DPDK's leave it to the program, which does not",
                fix="attach: kernel with VNFs that are processes, or leave the test reset out",
            )


def execute(interface: str, records: tuple[FunctionRecord, ...], link: VfLink, ledger: Ledger) -> ResetReport:
    """Set the physical function down and up, and check that all is as it was.

    Args:
        interface: network device of the physical function.

    Raises:
        DeployError: no carrier, or a setting is another afterwards.
    """
    steps = Steps()
    with steps.timed("reset.down"):
        netdevs.set_down(interface, ledger)
    with steps.timed("reset.up"):
        netdevs.set_up(interface)
        for space in sorted({one.netns for one in records}):
            names = tuple(one.netdev for one in records if one.netns == space)
            netdevs.wait_for_carrier(space, names)
        shown = link.read()
    for one in records:
        if shown.get(one.index) != one.laid_down:
            raise DeployError(
                "a setting of a virtual function did not survive the reset of its NIC",
                where=f"{one.name}: {interface} vf {one.index}",
                observed=f"{shown.get(one.index)}; it was {one.laid_down}",
                fix="see dmesg; leave the test reset out on this NIC",
            )
    return ResetReport(kind=RESET, steps=steps.done)
