"""SIMs of the emulated UEs: both guests make the same keys from the deployment's seed."""

import hmac

from nfvbed.vnfs.epc.subscribers import PLMN, Subscriber

MOST_OF_A_GENERATOR = 16
UES = 1 + MOST_OF_A_GENERATOR
"""The first is the guest's own; a generator sends and takes the frames of the others."""
_KEY_BYTES = 16


def subscribers(seed: str, apn: str) -> tuple[Subscriber, ...]:
    """Return whom the network knows.

    Args:
        seed: of the deployment.
        apn: the network that they may reach.
    """
    made = []
    for number in range(1, UES + 1):
        imsi = f"{PLMN}{number:010d}"
        made.append(Subscriber(imsi=imsi, key=_derived(seed, "k", imsi), opc=_derived(seed, "opc", imsi), apn=apn))
    return tuple(made)


def _derived(seed: str, purpose: str, imsi: str) -> str:
    return hmac.digest(seed.encode(), f"{purpose} {imsi}".encode(), "sha256")[:_KEY_BYTES].hex()
