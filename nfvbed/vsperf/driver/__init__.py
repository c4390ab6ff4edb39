"""Runs a test with the user's own VSPERF, and stores its results as VSPERF's.

`installation` finds VSPERF, `configuration` writes what it is given, `driver` runs it, `service` and `measuring`
measure with nfvgen for the plug-in inside VSPERF (`plugin/`), `importing` stores what came of it.
"""
