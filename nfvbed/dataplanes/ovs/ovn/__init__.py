"""OVN: logical switches, routers and ACLs, compiled by its own daemons into the rules of Open vSwitch on DPDK."""
