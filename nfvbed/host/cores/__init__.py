"""Cores: which there are, who sits on which, their clocks, their CPU time, and what was stolen of it."""
