"""Hugepages: the pool, how it is enlarged, and what a host can do for more of them."""
