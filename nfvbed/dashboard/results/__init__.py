"""What pages and API show of a store: runs, their trials, figures, coverage, and how far a run is."""
