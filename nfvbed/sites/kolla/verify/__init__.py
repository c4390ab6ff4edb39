"""Whether a rack that runs is what a variant says: its machines over SSH, its switches inside Kolla's containers."""
