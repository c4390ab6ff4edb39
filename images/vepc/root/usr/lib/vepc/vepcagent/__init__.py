"""The agent of the mobile core's image: user data says which functions a guest is; the console how they are."""
