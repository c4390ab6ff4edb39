"""SR-IOV: virtual functions of one NIC, joined by the switch in the NIC."""
