"""TRex as a generator: a program for its host that answers like nfvgen, and drives TRex by TRex's client.

It is copied to that host and runs with the host's Python: these modules import TRex, the standard library, and of
nfvbed what goes there with them (`nfvbed/traffic/trexoptions.py`).
"""
