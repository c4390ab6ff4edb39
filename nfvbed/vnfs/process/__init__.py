"""VNFs that are processes, or the kernel itself, in a network namespace of their own."""
