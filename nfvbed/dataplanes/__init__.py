"""One module per data plane, and the ceilings that bound them."""
