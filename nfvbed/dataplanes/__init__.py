"""Data planes: the interface that they answer, a room for each with all that is its own, and what bounds them."""
