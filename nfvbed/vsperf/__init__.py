"""VSPERF: reads its configuration, drives the user's own VSPERF, and writes results in its columns."""
