"""What the user's files say, parsed once into frozen models; everything behind works on these values."""
