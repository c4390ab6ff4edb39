"""XDP redirect: programs on the kernel's ports, held by a process of nfvbed's own."""
