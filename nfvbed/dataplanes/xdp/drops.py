"""What the counters of our XDP programs mean."""

from typing import Final

from nfvbed.records.drops import LINUX, Cause, CounterTable, rx

SOURCE: Final = "nfvbed-xdp-switch"
_COUNTERS: Final = {"no_way": rx(Cause.RULE, "the program has no port for them: no cable, or no share's address")}

TABLE: Final = CounterTable(SOURCE, LINUX | _COUNTERS, mark="no_way")
