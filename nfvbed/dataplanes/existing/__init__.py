"""What a cloud that exists already runs: nfvbed neither sets it up nor sees it."""
