"""The XDP switch's process: its start, its end, and what can be asked of it."""
