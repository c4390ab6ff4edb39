"""Comparisons, series and recommendations made visible: tables, CSV, JSON, figures and one self-contained page."""
