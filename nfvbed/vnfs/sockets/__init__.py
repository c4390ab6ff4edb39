"""Sockets at the ends of a path: hosts, each a network namespace, in the place of the generator's two ports."""
