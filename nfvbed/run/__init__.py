"""Executes a plan: deploys, measures, records, takes down; and goes on where a run stopped."""
