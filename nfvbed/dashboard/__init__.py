"""The dashboard: results as pages and as a JSON API, out of a store that is only read."""
