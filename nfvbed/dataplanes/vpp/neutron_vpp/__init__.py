"""Neutron's way to VPP: a mechanism driver and an agent, on a node's own Python beside the libraries of Neutron."""
