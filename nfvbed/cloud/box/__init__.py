"""A rack in a box: machines as private roots on this machine, cabled to a switch, with a registry of images."""
