"""How the outside and VNFs are attached, whatever the switch; and the ceilings of each kind of port."""
