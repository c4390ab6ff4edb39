"""macvtap: the kernel's devices on lower links."""
