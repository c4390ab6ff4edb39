"""One deployment's run directory and all that is in it, and what a killed deployment left."""
