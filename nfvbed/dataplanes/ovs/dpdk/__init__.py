"""Open vSwitch's userspace datapath on DPDK."""
