"""Other hosts over SSH: argument lists, files, and processes that outlive a lost connection."""
