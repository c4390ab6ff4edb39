"""The faults of a rack before anything is deployed on it: facts of its machines, and pure checks of them."""
