"""A comparison made visible: table, CSV, JSON, figures and one self-contained page."""
