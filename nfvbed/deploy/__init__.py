"""Sites and data planes: everything that is set up on a machine, and taken down again."""
