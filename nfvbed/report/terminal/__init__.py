"""A comparison in a terminal: the last screen, the tables in full, and one row taken apart."""
