"""OVN on two chassis, each an Open vSwitch of its own, joined by Geneve on the userspace datapath."""
