"""Rows against a baseline: what may be compared, what bounds it, and what is certain of it."""
