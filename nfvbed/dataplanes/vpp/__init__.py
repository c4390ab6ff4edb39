"""VPP, which the user brings: driven over its binary API; its statistics are read from shared memory."""
