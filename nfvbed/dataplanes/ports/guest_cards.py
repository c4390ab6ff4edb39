"""What data planes of the kernel say of a guest's network card: its model, and who moves its frames."""

from typing import Literal

from nfvbed.errors import UnsupportedError
from nfvbed.records import GuestCard, VnfKind
from nfvbed.spec.vnf import VnfChoice, vnic_of

Vhost = Literal["auto", "on", "off"]
"""Whether the kernel moves the frames of a guest's virtio-net card (vhost-net), or QEMU does; auto: the kernel where
it can."""


def vhost_of(wanted: Vhost) -> bool | None:
    """Give it as a port says it; None: as the host can."""
    return None if wanted == "auto" else wanted == "on"


def require_card(card: GuestCard, choice: VnfChoice, fitting: tuple[str, ...], where: str) -> None:
    """Refuse VNFs that do not have the card that a variant is about.

    Args:
        card: of the variant; any: it is about none.
        choice: the VNF.
        fitting: kinds of `vnic` that become this card.
        where: the variant's data plane.

    Raises:
        UnsupportedError: it is no virtual machine, or asks for another card.
    """
    if card == "any":
        return
    if choice.kind is not VnfKind.VM:
        raise UnsupportedError(
            f"a VNF of kind {choice.kind} has no {card} card",
            where=where,
            observed=f"the variant is about a guest's {card} card, and what is no guest has the end of a link",
            fix="kind: vm, or variant linux-bridge",
        )
    vnic = vnic_of(choice)
    if vnic not in fitting:
        raise UnsupportedError(
            f"the VNF asks for a network card of kind {vnic!r}",
            where=where,
            observed=f"the variant gives its guests {card} cards",
            fix=f"vnic: {' or '.join(fitting)}; or variant linux-bridge",
        )
