"""Neutron's mechanism driver and agent for VPP; they run on a node's own Python, with Neutron's libraries."""
