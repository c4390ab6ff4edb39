"""The guest compute node: a virtual machine with this host's files and another kernel, which nfvbed runs in."""
