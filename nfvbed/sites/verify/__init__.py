"""Whether a running cloud matches a variant: all readings beside all that is expected."""
