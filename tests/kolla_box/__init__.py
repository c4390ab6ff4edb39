"""A rack in a box, really started: on demand, as it takes 12 GiB of memory."""
