"""Writes the rows of a comparison in the columns of VSPERF's result files."""
