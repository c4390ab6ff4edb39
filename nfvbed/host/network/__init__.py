"""Links, network namespaces, their receive work, and the drivers of NICs."""
