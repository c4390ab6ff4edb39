"""Hugepages: the pool, how it grows, and what a host can do for more of them."""
