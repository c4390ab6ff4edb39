"""Chain steering: a path's cables become rules in a bridge, written by nfvbed or by a controller."""
