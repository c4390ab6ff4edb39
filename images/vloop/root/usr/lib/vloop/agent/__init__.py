"""The guest's agent: answers requests on the second serial port (schema `vloop/1`; images/README.md).

It needs nothing but Python's standard library.
"""

SCHEMA = "vloop/1"
