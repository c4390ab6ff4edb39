"""VNFs in virtual machines: QEMU, driven over its monitor; an image with nfvbed's agent, or a user's own."""
