"""Horizon's panel, without Horizon."""
