"""Comparisons and recommendations in a terminal: the last screen, tables in full, one row taken apart."""
