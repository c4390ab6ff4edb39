"""Where variants are deployed, behind one interface: this machine, a guest node, a simulated system."""
