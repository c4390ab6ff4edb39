"""The user's files, parsed once into frozen models; all later code works on these values."""
