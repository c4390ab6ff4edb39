"""DPDK's testpmd as a forwarder: its command line, its threads, and its counters over DPDK's telemetry."""
