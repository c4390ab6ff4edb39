"""What the counters of described switches mean: those of their links are Linux's, their own are named as they are."""

from typing import Final

from nfvbed.records.drops import LINUX, CounterTable

SOURCE: Final = "described-switch"
TABLE: Final = CounterTable(SOURCE, LINUX)
