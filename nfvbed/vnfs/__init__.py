"""VNFs: started on a deployment's ports, trusted only once a frame came through them, watched, and ended."""
