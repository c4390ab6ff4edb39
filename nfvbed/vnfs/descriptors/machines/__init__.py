"""Descriptors of VNFs of several machines (VDUs): both forms, and every deployment flavour, from one `vnf.yml`."""
