"""An existing cloud: examined, measured, and left as it is."""
