"""Sizes of rings of descriptors, in shared memory or between a program and the kernel: powers of two."""

from typing import Annotated

from pydantic import AfterValidator, Field


def _power_of_two(size: int) -> int:
    if size & (size - 1):
        below = 1 << (size.bit_length() - 1)
        raise ValueError(f"a ring has a power of two of descriptors: {below} or {2 * below}")
    return size


POWER_OF_TWO = AfterValidator(_power_of_two)
RingSize = Annotated[int, Field(ge=64, le=4096), POWER_OF_TWO]
"""Descriptors of a ring; a power of two."""
