"""QEMU: where it is, and which accelerator boots a guest on this host."""
