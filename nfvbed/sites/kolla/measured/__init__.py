"""A deployed rack as a site: its cloud, onboarded and measured as an existing one, with a generator on its own host."""
