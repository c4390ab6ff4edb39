"""Data planes, each in a room with all that is its own, the interface that they answer, and the ceilings that bound them."""
