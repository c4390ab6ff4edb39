"""Sites, where variants are deployed: this machine, a guest node, an OpenStack, a rack, or a simulation."""
