"""A collector of VSPERF that collects nothing.

VSPERF always has one. Its default, Pidstat, ends every pidstat of the machine by name, and samples beside the test.
"""

from collections import OrderedDict
from typing import Any

from tools.collectors.collector import ICollector


class NoCollector(ICollector):
    """Collects nothing."""

    def __init__(self, results_dir: str, test_name: str) -> None:
        """Take what every collector is given."""

    def start(self) -> None:
        """Nothing to do."""

    def stop(self) -> None:
        """Nothing to do."""

    def get_results(self) -> "OrderedDict[str, Any]":
        """Return no results."""
        return OrderedDict()

    def print_results(self) -> None:
        """Nothing to do."""
