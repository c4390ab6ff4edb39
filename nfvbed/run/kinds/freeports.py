"""Frees the generator's ports for other traffic, within a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.run import requests
from nfvbed.run.kinds.celltest import CellTest
from nfvbed.units import NS_PER_S

_REOPENED_NS = NS_PER_S // 20


@contextmanager
def ports_free(cell_test: CellTest) -> Iterator[None]:
    """Close the generator as long as the block lasts; what measures with it then learns of its new process."""
    setup, experiment = cell_test.setup, cell_test.plan.experiment
    short = replace(requests.plain(experiment, cell_test.cell), duration_ns=_REOPENED_NS)
    warm_up = requests.warm_up(experiment, cell_test.cell) or short
    try:
        with setup.generator.ports_free():
            yield
    except (UnsupportedError, PrerequisiteError):
        setup.measures.warm_up(warm_up)
        raise
    setup.measures.warm_up(warm_up)
