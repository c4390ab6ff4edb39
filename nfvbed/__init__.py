"""nfvbed: answers with measurements which data plane an NFV infrastructure should run."""

__version__ = "0.1.0"
