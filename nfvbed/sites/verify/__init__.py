"""Whether a cloud that runs is what a variant says: readings of its machines and of its APIs, and pure checks."""
