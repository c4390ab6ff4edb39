"""The doctor: small probes of what this host has, each saying how it looked, and what every variant can do here."""
