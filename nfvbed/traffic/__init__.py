"""The generator's side: what a trial asks for, what comes back, and the clients that drive a generator."""
