"""Comparisons, results of tests, figures and series as JSON and CSV, for other programs."""
