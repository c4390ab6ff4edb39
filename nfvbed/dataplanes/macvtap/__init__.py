"""macvtap: the kernel's devices on lower links, which switch by destination address without a bridge."""
