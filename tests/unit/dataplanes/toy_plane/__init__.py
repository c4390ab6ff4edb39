"""A data plane from outside of the package: what a room must have, and no more."""
