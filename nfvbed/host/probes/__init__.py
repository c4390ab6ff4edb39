"""The doctor: small probes of this host, each with the way it looked, and what every variant can do here."""
