"""Marks tests that need a VPP.

VPP is in no registry and is never shipped: the user brings it. Where nobody did, the support manifest asserts that the
variants are unsupported, and the test of an absent VPP (test_vpp.py) runs everywhere.
"""

import os

import pytest

from nfvbed.dataplanes.vpp import binaries

with_vpp = pytest.mark.skipif(
    not os.environ.get(binaries.VPP_VARIABLE), reason=f"{binaries.VPP_VARIABLE} names no VPP on this host"
)
