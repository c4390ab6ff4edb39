"""A comparison as JSON and CSV, for other programs."""
