"""One or two hosts, each an Open vSwitch of its own, joined by a tunnel on the userspace datapath."""
