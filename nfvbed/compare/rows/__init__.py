"""A row: the trials of one cell, their visits, rates, latency, placement classes, cost and warnings."""
