"""VSPERF: its configuration read, the user's own VSPERF driven, and results in its columns."""
