"""The site devcloud: a real OpenStack on this machine, in private namespaces and a private root."""
