"""Open vSwitch's userspace datapath on AF_XDP sockets."""
