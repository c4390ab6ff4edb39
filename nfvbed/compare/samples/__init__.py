"""Statistics on samples: exact rank tests, intervals, steps in series, corrections for being many."""
