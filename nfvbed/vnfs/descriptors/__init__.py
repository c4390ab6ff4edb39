"""VNF descriptors: both of Tacker's forms from one `vnfd/NAME/vnf.yml`, read, checked and translated to HOT."""
