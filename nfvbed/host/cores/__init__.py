"""Cores: which there are, which core does what, their clocks, their CPU time, and the time stolen from them."""
