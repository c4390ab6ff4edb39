"""QEMU: where it is, which accelerator boots a guest here, disk images, and initial ramdisks."""
