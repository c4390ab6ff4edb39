"""The dashboard: results as pages and as a JSON API, what operators say of runs, and jobs that they start."""
