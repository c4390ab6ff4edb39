"""Open vSwitch: what its datapaths (a room each) share, and the four interfaces it is driven and read through."""
