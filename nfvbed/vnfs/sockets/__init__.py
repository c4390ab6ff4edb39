"""Sockets at the ends of a path: hosts, each a network namespace, in place of the generator's two ports."""
