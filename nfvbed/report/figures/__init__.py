"""The figures: Vega-Lite specifications built with Altair, one module each, used by page and dashboard."""
