"""Descriptors of VNFs of several machines (VDUs): both forms, with every deployment flavour, from one `vnf.yml`."""
