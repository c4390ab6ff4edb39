"""Nodes: namespaces with the private root below a writable layer, and a first process that starts services."""
