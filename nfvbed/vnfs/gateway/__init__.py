"""Gateways of a mobile core's user plane that are nfvbed's own programs (`native/gateway`)."""
