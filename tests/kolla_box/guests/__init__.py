"""A whole cloud on a rack in a box whose computes have the same data plane: machines of one VNF on both."""
