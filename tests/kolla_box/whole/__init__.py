"""A whole cloud on a rack in a box, with a data plane on each of two computes.

It is deployed through faults, measured, restarted and taken down: one deployment for all files, in their order.
"""
