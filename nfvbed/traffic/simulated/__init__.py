"""The simulated system under test: its options, its forwarding, and a generator that asks it."""
