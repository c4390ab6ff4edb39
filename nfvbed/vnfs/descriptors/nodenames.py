"""Names that all forms of a descriptor give to what is no machine and no connection point."""

SCALING = "machines"
"""What a VNF is scaled by: name of the policy (legacy) and of the aspect (SOL001)."""


def link_name(link: str) -> str:
    """Return the name of a virtual link's node, and of its network in a stack."""
    return f"VL_{link}"


def group_name(group: str) -> str:
    """Return the name of a placement group's policy, and of its server group."""
    return f"PG_{group}"
