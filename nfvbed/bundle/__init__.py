"""A run as one file that a stranger can check: what was measured, what came of it, and digests of all of it."""
