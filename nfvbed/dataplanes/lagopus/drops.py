"""What Lagopus' counters of frames that did not go on mean."""

from typing import Final

from nfvbed.records.drops import SEVERAL, Cause, CounterTable, rx, tx

SOURCE: Final = "lagopus"
_COUNTERS: Final = {
    "rx_dropped": rx(Cause.SEVERAL, f"the port dropped what came to it, and {SEVERAL}"),
    "tx_dropped": tx(Cause.SEVERAL, f"the port did not send them, and {SEVERAL}"),
    "rx_errors": rx(Cause.SEVERAL, f"they came with errors, and {SEVERAL}"),
    "tx_errors": tx(Cause.SEVERAL, f"they left with errors, and {SEVERAL}"),
}

TABLE: Final = CounterTable(SOURCE, _COUNTERS)
