"""Lagopus, an OpenFlow switch that the user brings: its configuration, its process, its datastore."""
