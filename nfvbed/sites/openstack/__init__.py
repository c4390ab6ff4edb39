"""The sites devcloud and cloud: an OpenStack of nfvbed's own on this machine, or one that exists already."""
