"""An OpenStack of nfvbed's own on this machine: its packages, nodes, services and computes."""
