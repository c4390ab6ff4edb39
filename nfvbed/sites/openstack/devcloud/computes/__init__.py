"""The computes of a devcloud: one for each data plane, with its switch and its agent."""
