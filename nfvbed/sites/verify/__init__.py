"""Whether a cloud that runs is what a variant says: all readings of it beside all that is expected."""
