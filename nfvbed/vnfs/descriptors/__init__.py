"""VNF descriptors: written from `vnf.yml` in both of Tacker's forms, or given as files; checked, translated to HOT."""
