"""The record of what was made on this host, by ids of processes and things, so that any later nfvbed can undo it."""
