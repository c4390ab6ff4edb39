"""Open vSwitch on the kernel's datapath."""
