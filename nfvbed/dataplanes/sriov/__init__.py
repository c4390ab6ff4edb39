"""SR-IOV: physical and virtual functions in sysfs, their settings over netlink, their drivers."""
