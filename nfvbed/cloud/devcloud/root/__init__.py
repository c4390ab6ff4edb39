"""The private root: Debian's OpenStack packages and Tacker, unpacked into a folder that all nodes share."""
