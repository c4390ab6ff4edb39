"""Chain steering: a path's cables become forwarding in a bridge, written by nfvbed or by a controller."""
