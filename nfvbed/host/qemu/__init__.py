"""QEMU: where it is, which accelerator boots a guest on this host, disk images and initial ramdisks."""
