"""The simulated system under test: its options, what it forwards, and a generator that asks it."""
