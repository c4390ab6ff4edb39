"""A cloud that exists already: looked at, measured, and left as it is."""
