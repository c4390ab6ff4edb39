"""Published tables and claims beside what was measured here: read from a store, judged, and written."""
