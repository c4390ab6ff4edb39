"""DPDK's testpmd as a forwarder: its command line, its threads, and its counters by DPDK's telemetry."""
