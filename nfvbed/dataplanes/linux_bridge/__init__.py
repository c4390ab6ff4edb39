"""The kernel's bridge."""
