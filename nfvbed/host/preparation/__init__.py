"""What the authors of measurements do to a host by hand: set for a while, recorded, and undone."""
