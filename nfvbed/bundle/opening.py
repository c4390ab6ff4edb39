"""A bundle from outside: read within its bounds, checked, and refused where it is not consistent."""

from collections.abc import Sequence
from pathlib import Path

from securesystemslib.signer import SSlibKey

from nfvbed.bundle.archive import MOST_BYTES
from nfvbed.bundle.statement import Signature
from nfvbed.bundle.verification import CheckedBundle, Verification, open_bundle
from nfvbed.errors import BundleError, PrerequisiteError
from nfvbed.spec.textfile import read_bytes

_SHOWN = 10
"""Faults that a message has; it says how many there are."""


def read_bundle(path: Path, trusted: Sequence[SSlibKey] = ()) -> CheckedBundle:
    """Read a bundle's file and check it, whatever comes of that.

    Raises:
        ConfigurationError: it is not there, is no bundle, or has what no bundle has.
    """
    return open_bundle(read_bytes(path, "give a file that `nfvbed bundle` wrote", MOST_BYTES), str(path), trusted)


def require_consistent(found: Verification, where: str) -> None:
    """Refuse a bundle that is not consistent.

    Raises:
        BundleError: something in it is not as it should be.
        PrerequisiteError: it was made by other rules, and could not be recomputed.
    """
    if found.faults:
        first, *others = found.faults
        more = [f"{fault.where}: {fault.observed}" for fault in others[: _SHOWN - 1]]
        more += [f"{len(found.faults)} faults in all"] if len(found.faults) > _SHOWN else []
        raise BundleError(
            "this bundle is not consistent",
            where=f"{where}: {first.where}",
            observed="; ".join((first.observed, *more)),
            fix="do not rest on it; have it sent again by who measured",
        )
    if found.not_recomputed:
        raise PrerequisiteError(
            "its digests are right; its verdicts were not recomputed",
            where=where,
            observed=found.not_recomputed,
            fix=f"check it with nfvbed {found.nfvbed}",
        )


def require_trusted(found: Verification, where: str) -> None:
    """Refuse a bundle that is not signed by a trusted key.

    Raises:
        BundleError: it is unsigned, or signed by another key.
    """
    if found.signature is not Signature.TRUSTED:
        raise BundleError(
            "this bundle is consistent, and not signed by a key you trust",
            where=where,
            observed=f"{found.signature.value}{f': {found.keyid}' if found.keyid else ''}",
            fix="ask who gave it to you for their public key, by another way than the bundle came",
        )
