"""What a packet costs: the readings around trials that are run for them alone, and what follows from them."""
