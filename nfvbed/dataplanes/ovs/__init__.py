"""Open vSwitch: what its datapaths (a room each) share, and the four interfaces it is driven and read through."""

import sys

# The library `ovs` imports eventlet wherever it is installed (nfvbed brings none along): 0.3 s and a warning on the
# user's screen at every start. nfvbed has no green threads, so `ovs` is to find none (None: the import fails).
sys.modules.setdefault("eventlet", None)  # type: ignore[arg-type]
