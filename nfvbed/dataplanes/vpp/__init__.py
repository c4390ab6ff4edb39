"""A private VPP in a workspace, driven over its binary API; its statistics are read from shared memory."""
