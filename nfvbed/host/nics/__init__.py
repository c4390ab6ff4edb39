"""Ports of NICs that a switch and the generator take over PCI: which they are, whether they may, and how."""
