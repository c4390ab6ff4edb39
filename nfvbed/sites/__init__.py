"""Where variants are deployed, behind one interface: this machine, a guest node, an OpenStack, a rack, a simulation."""
