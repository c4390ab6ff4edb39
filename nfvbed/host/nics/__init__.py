"""NIC ports that a switch and the generator take over PCI: which they are, whether they may be taken, and how."""
