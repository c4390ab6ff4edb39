"""This machine: what it has and can do, what nfvbed takes of it and gives back; and other hosts over SSH."""
