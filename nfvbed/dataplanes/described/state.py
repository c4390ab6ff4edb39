"""What is recorded of a described switch."""

from typing import Annotated

from nfvbed.dataplanes.described.switch import DescribedSpec
from nfvbed.records.state import NESTED, State


class DescribedState(State):
    """What its commands are, and what they are filled in with."""

    described: Annotated[DescribedSpec, NESTED]
