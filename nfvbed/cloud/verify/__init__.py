"""Readings of a cloud and of its machines, and pure checks of these."""
