"""Which data plane a host's results speak for, by a need: candidates, their order, and what would change it."""
