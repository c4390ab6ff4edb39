"""The kernel's bridge between veth pairs and taps."""
