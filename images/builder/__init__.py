"""Builds images of VNFs from Debian packages: no loop device, no KVM, the same bytes from the same input."""
