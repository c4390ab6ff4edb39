"""A whole cloud on a rack in a box: deployed through faults, used, and taken down; one deployment for all files."""
