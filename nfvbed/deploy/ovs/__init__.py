"""A private Open vSwitch: its binaries, its instance, and the four interfaces it is driven and read through."""
