"""What was made on this host, by the ids of processes and things, so that any later nfvbed can undo it."""
