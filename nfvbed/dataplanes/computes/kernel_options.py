"""What Nova decides of guests on the kernel's data planes: options that have one value in a cloud, and why."""

OFFLOADS = (True, "guests take the offloads of their taps, which Nova does not turn off")
VHOST = (("auto", "off"), "guests are emulated (virt_type = qemu), and Nova gives those no vhost-net")
