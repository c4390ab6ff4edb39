"""Tables of the KISTI report (2017): Gbit/s of iperf3, one stream, ten repetitions of 60 s."""

from nfvbed.spec.published import publications

(KISTI,) = (one for one in publications() if one.name.startswith("kisti"))
(_VSWITCHES, _CHAINS) = (table for table in KISTI.tables if table.title.startswith("Table "))

VSWITCHES = dict(
    zip(("linux-bridge", "ovs", "ovs-dpdk"), (column.results for column in _VSWITCHES.columns), strict=True)
)
"""Table 1: between two virtual machines."""
CHAINS = dict(enumerate((column.results for column in _CHAINS.columns), start=1))
"""Table 2: chains of so many VNFs on OVS-DPDK."""
