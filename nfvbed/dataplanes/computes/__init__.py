"""What the computes of a devcloud share: a node of their own, links to the generator, guests, refusals."""
