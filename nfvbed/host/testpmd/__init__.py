"""DPDK's testpmd in a switch's place: how it is started and read, without its command line."""
